package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.coalescing.CoalescingClaimStore;
import io.exactlyonce.claim.coalescing.CoalescingSettings;
import io.exactlyonce.test.contract.ClaimStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The contract, on PostgreSQL and with calls put together. */
@Tag("postgres")
class CoalescedPostgresClaimStoreIT extends ClaimStoreContract {

    private static final PostgresServer SERVER = PostgresServer.shared();
    private static final CoalescingClaimStore COALESCER = new CoalescingClaimStore(
            SERVER.store(), new CoalescingSettings(2, 256, Duration.ofSeconds(3)), System::nanoTime);

    @Override
    public ClaimStore store() {
        return COALESCER;
    }

    @Override
    public void endLease(ClaimId claim) {
        SERVER.endLease(claim);
    }

    @AfterAll
    static void close() {
        COALESCER.close();
    }
}
