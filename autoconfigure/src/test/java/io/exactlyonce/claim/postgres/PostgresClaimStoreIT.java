package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreContract;
import org.junit.jupiter.api.AfterAll;

/** The contract, on PostgreSQL. */
class PostgresClaimStoreIT extends ClaimStoreContract {

    private static final int CONNECTIONS = 16;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final ClaimStore store = new PostgresClaimStore(DATABASE.pool(), CONNECTIONS, TestDatabase.RETENTION);

    @Override
    public ClaimStore store() {
        return store;
    }

    @Override
    public void endLease(ClaimId claim) {
        DATABASE.endLease(claim);
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }
}
