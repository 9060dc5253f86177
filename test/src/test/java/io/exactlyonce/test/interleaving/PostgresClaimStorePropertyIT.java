package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.PostgresServer;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * PostgreSQL under random interleavings. No test can set its clock, so a clock jump moves all times of the rows back
 * instead.
 */
@Tag("postgres")
class PostgresClaimStorePropertyIT {

    private static final PostgresServer SERVER = PostgresServer.shared();
    private static final StoreInTime POSTGRES = new StoreInTime() {
        @Override
        public ClaimStore store() {
            return SERVER.store();
        }

        @Override
        public ParkedClaims parked() {
            return SERVER.parked();
        }

        @Override
        public void pass(String scope, Duration time) {
            SERVER.age(scope, time);
        }
    };

    @Test
    void everyInterleavingKeepsTheRules() {
        Seeds.ofThisRun(200).check(Step::interleaving, steps -> Interleaving.check(POSTGRES, steps));
    }
}
