package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreContract;
import io.exactlyonce.claim.Coalescer;
import io.exactlyonce.claim.CoalescingTerms;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;

/** The contract, on PostgreSQL and with calls put together. */
class CoalescedPostgresClaimStoreIT extends ClaimStoreContract {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);
    private static final Coalescer COALESCER = new Coalescer(
            new PostgresClaimStore(DATABASE.pool(), CONNECTIONS, TestDatabase.RETENTION),
            new CoalescingTerms(2, 256, 10_000, Duration.ofSeconds(3)),
            System::nanoTime);

    @Override
    public ClaimStore store() {
        return COALESCER;
    }

    @Override
    public void endLease(ClaimId claim) {
        DATABASE.endLease(claim);
    }

    @AfterAll
    static void close() {
        COALESCER.close();
        DATABASE.close();
    }
}
