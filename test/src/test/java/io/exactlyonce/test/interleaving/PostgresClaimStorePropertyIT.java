package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.PostgresServer;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

/**
 * PostgreSQL under random interleavings. Its clock cannot be set, so its rows grow older instead: a clock jump moves all of
 * their times back.
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

    @Provide
    Arbitrary<List<Step>> interleavings() {
        return Step.interleavings();
    }

    @Property(tries = 200)
    void everyInterleavingKeepsTheRules(@ForAll("interleavings") List<Step> steps) {
        Interleaving.check(POSTGRES, steps);
    }
}
