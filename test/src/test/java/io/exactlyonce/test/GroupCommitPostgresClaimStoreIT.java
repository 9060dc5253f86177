package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.groupcommit.GroupCommitClaimStore;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.test.contract.ClaimStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The contract, on PostgreSQL and with calls put together. */
@Tag("postgres")
class GroupCommitPostgresClaimStoreIT extends ClaimStoreContract {

    private static final PostgresServer SERVER = PostgresServer.shared();
    private static final GroupCommitClaimStore FRONT = new GroupCommitClaimStore(
            SERVER.store(), new GroupCommitSettings(2, 256, Duration.ofSeconds(3)), System::nanoTime);

    @Override
    public ClaimStore store() {
        return FRONT;
    }

    @Override
    public void endLease(ClaimId claim) {
        SERVER.endLease(claim);
    }

    @AfterAll
    static void close() {
        FRONT.close();
    }
}
