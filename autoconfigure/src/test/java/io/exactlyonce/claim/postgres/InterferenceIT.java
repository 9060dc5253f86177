package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.Release;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.dao.ConcurrencyFailureException;

/** What others do between the statements of one claim, and to its connections. */
class InterferenceIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);
    private static final String READ = "SELECT claim.scope";
    private static final String TAKE_OVER = "UPDATE exactly_once_claim\nSET status = 'HELD'";

    private final PostgresClaimStore others =
            new PostgresClaimStore(DATABASE.pool(), CONNECTIONS, TestDatabase.RETENTION);

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void rowThatVanishesBeforeItIsReadIsClaimedAgain() {
        ClaimRequest first = request();
        others.claim(List.of(first));

        assertThat(claimWhile(READ, 1, () -> DATABASE.delete(first.key()), first.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(1));
    }

    @Test
    void keyThatChangesInEachRoundFailsWithAReason() {
        ClaimRequest busy = request();
        others.claim(List.of(busy));
        others.release(List.of(new Release(busy.id(), "failed", false)));
        Runnable claimAndRelease = () -> {
            ClaimRequest faster = request(busy.key());
            others.claim(List.of(faster));
            others.release(List.of(new Release(faster.id(), "failed", false)));
        };

        assertThatThrownBy(() -> claimWhile(TAKE_OVER, 100, claimAndRelease, busy.key()))
                .isInstanceOf(ConcurrencyFailureException.class)
                .hasMessageContaining("1 of 1 keys changed in each of 10 rounds")
                .hasMessageNotContaining(busy.key().key());
    }

    @Test
    void keyThatSomebodyElseTakesOverFirstIsHeldElsewhere() {
        ClaimRequest failed = request();
        others.claim(List.of(failed));
        others.release(List.of(new Release(failed.id(), "failed", false)));

        assertThat(claimWhile(TAKE_OVER, 1, () -> others.claim(List.of(request(failed.key()))), failed.key()))
                .isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void keyWhoseHolderRenewsInTheLastMomentIsHeldElsewhere() {
        ClaimRequest late = request();
        others.claim(List.of(late));
        DATABASE.endLease(late.id());

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> others.renew(List.of(new LeaseRenewal(late.id(), Duration.ofMinutes(1)))),
                        late.key()))
                .isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void keyWhoseHolderCompletesInTheLastMomentIsCompleted() {
        ClaimRequest late = request();
        others.claim(List.of(late));
        DATABASE.endLease(late.id());

        assertThat(claimWhile(TAKE_OVER, 1, () -> others.complete(List.of(new Completion(late.id(), "1"))), late.key()))
                .isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    void keyWhoseHolderReleasesInTheLastMomentIsNotAmbiguous() {
        ClaimRequest late = request();
        others.claim(List.of(late));
        DATABASE.endLease(late.id());

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> others.release(List.of(new Release(late.id(), "failed", false))),
                        late.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.ambiguous()).isFalse());
    }

    @Test
    void storeWorksAgainAfterItsConnectionsWereKilled() {
        others.claim(List.of(request()));
        DATABASE.jdbc()
                .queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND application_name = 'exactly-once-claims'");

        ClaimRequest claim = request();
        Awaitility.await()
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(others.claim(List.of(claim))).hasOnlyElementsOfType(Acquired.class));
    }

    private static ClaimOutcome claimWhile(String statement, int times, Runnable event, ClaimKey key) {
        var dataSource = new InterruptedDataSource(DATABASE.pool(), statement, times, event);
        return new PostgresClaimStore(dataSource, CONNECTIONS, TestDatabase.RETENTION)
                .claim(List.of(request(key)))
                .get(0);
    }
}
