package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A claim cannot change a row that another claim holds. Each test uses one statement, so that it shows one check. */
class StaleClaimIT {

    private static final int CONNECTIONS = 2;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final PostgresClaimStore store = DATABASE.store();
    private final ClaimRequest stale = request();
    private final ClaimRequest successor = request(stale.key());

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private Acquired acquire(ClaimRequest request) {
        return (Acquired) store.claim(List.of(request)).get(0);
    }

    private Map<String, Object> takenOver() {
        acquire(stale);
        DATABASE.endLease(stale.id());
        acquire(successor);
        return DATABASE.row(stale.key());
    }

    @Test
    void keyThatIsHeldIsNotClaimedForTheFirstTimeAgain() {
        acquire(stale);
        Map<String, Object> held = DATABASE.row(stale.key());

        assertThat(store.claim(List.of(successor))).hasOnlyElementsOfType(HeldElsewhere.class);

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void renewalOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.renew(List.of(new LeaseRenewal(stale.id(), Duration.ofMinutes(9))))
                        .granted())
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void completionOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.resolve(List.of(new ClaimResolution.Completed(stale.id(), "1")))
                        .granted())
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void releaseOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.resolve(List.of(new ClaimResolution.Released(stale.id(), "failed", false)))
                        .granted())
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void parkingOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.resolve(List.of(new ClaimResolution.Parked(stale.id(), "told to", false)))
                        .granted())
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void claimThatHasEndedIsNotRenewed() {
        acquire(stale);
        store.resolve(List.of(new ClaimResolution.Released(stale.id(), "failed", false)));
        Map<String, Object> released = DATABASE.row(stale.key());

        assertThat(store.renew(List.of(new LeaseRenewal(stale.id(), Duration.ofMinutes(9))))
                        .granted())
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(released);
    }

    @Test
    void completedClaimIsNeitherReleasedNorParked() {
        acquire(stale);
        store.resolve(List.of(new ClaimResolution.Completed(stale.id(), "1")));
        Map<String, Object> completed = DATABASE.row(stale.key());

        assertThat(store.resolve(List.of(new ClaimResolution.Released(stale.id(), "failed", true)))
                        .granted())
                .isEmpty();
        assertThat(store.resolve(List.of(new ClaimResolution.Parked(stale.id(), "told to", true)))
                        .granted())
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(completed);
    }

    @Test
    void completionThatIsRepeatedIsRecordedWithItsFirstResult() {
        acquire(stale);
        store.resolve(List.of(new ClaimResolution.Completed(stale.id(), "1")));

        assertThatNoException()
                .isThrownBy(() -> assertThat(store.resolve(List.of(new ClaimResolution.Completed(stale.id(), "2")))
                                .granted())
                        .containsExactly(stale.id()));

        assertThat(DATABASE.row(stale.key())).containsEntry("result", "1");
    }

    /** Another transaction writes the row, and may roll back. */
    @Test
    void claimWhoseRowIsLockedIsNotLost() throws SQLException {
        acquire(stale);
        try (Connection other = DATABASE.newConnection()) {
            other.setAutoCommit(false);
            new JdbcTemplate(new SingleConnectionDataSource(other, true))
                    .queryForList("SELECT 1 FROM exactly_once_claim WHERE claim_id = ? FOR UPDATE", stale.claimId());

            ClaimAnswers locked = new ClaimAnswers(Set.of(), Set.of(stale.id()), null);
            assertThat(store.renew(List.of(new LeaseRenewal(stale.id(), Duration.ofMinutes(9)))))
                    .isEqualTo(locked);
            assertThat(store.resolve(List.of(new ClaimResolution.Completed(stale.id(), "1"))))
                    .isEqualTo(locked);

            other.rollback();
        }
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(stale.id(), "1")))
                        .granted())
                .containsExactly(stale.id());
    }

    @Test
    void tokenGrowsAlthoughTheClockWasSetBack() {
        acquire(stale);
        DATABASE.jdbc()
                .update(
                        "UPDATE exactly_once_claim SET fencing_token = fencing_token * 2 WHERE claim_id = ?",
                        stale.claimId());
        long token = (long) DATABASE.row(stale.key()).get("fencing_token");
        DATABASE.endLease(stale.id());

        assertThat(acquire(successor).fencingToken()).isGreaterThan(token);
    }

    @Test
    void failureThatIsRecordedTwiceIsCountedOnce() {
        acquire(stale);
        ClaimResolution threw = new ClaimResolution.Released(stale.id(), "it threw", false, true);

        store.resolve(List.of(threw));
        store.resolve(List.of(threw));

        assertThat(acquire(request(stale.key())).failures()).isEqualTo(1);
    }

    @Test
    void onlyAttemptsThatThrewAreCountedUntilAnOperatorReleasesTheKey() {
        acquire(stale);
        store.resolve(List.of(new ClaimResolution.Released(stale.id(), "it threw", false, true)));
        acquire(successor);
        store.resolve(List.of(new ClaimResolution.Released(successor.id(), "not called", false)));
        ClaimRequest third = request(stale.key());
        assertThat(acquire(third).failures()).isEqualTo(1);
        store.resolve(List.of(new ClaimResolution.Released(third.id(), "it threw", false, true)));
        ClaimRequest last = request(stale.key());
        assertThat(acquire(last).failures()).isEqualTo(2);
        store.resolve(List.of(new ClaimResolution.Parked(last.id(), "maxAttempts (3) is reached", false, true)));
        assertThat(DATABASE.row(stale.key())).containsEntry("failures", 3).containsEntry("status", "PARKED");

        assertThat(new PostgresParkedClaims(DATABASE.table()).release(last.id()))
                .isTrue();

        assertThat(acquire(request(stale.key())).failures()).isZero();
    }

    @Test
    void releaseWithoutEffectsDoesNotClearAnEarlierDoubt() {
        takenOver();
        store.resolve(List.of(new ClaimResolution.Released(successor.id(), "failed", false)));

        assertThat(acquire(request(stale.key())).inDoubt()).isTrue();
    }
}
