package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** What a claim may do to a row that another one holds: nothing. One statement each, so that each shows one check. */
class StaleClaimIT {

    private static final int CONNECTIONS = 2;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final PostgresClaimStore store =
            new PostgresClaimStore(DATABASE.pool(), CONNECTIONS, TestDatabase.RETENTION);
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

        assertThat(store.renew(List.of(new LeaseRenewal(stale.id(), Duration.ofMinutes(9)))))
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void completionOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.end(List.of(new ClaimEnd.Completed(stale.id(), "1")))).isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void releaseOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.end(List.of(new ClaimEnd.Released(stale.id(), "failed", false))))
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void parkingOfAClaimThatWasTakenOverIsRefused() {
        Map<String, Object> held = takenOver();

        assertThat(store.end(List.of(new ClaimEnd.Parked(stale.id(), "told to", false))))
                .isEmpty();

        assertThat(DATABASE.row(stale.key())).isEqualTo(held);
    }

    @Test
    void releaseWithoutEffectsDoesNotClearAnEarlierDoubt() {
        takenOver();
        store.end(List.of(new ClaimEnd.Released(successor.id(), "failed", false)));

        assertThat(acquire(request(stale.key())).ambiguous()).isTrue();
    }
}
