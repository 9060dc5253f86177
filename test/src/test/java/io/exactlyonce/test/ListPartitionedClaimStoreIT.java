package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.test.PostgresServer.Layout;
import io.exactlyonce.test.contract.ClaimStoreContract;
import org.junit.jupiter.api.Tag;

/** The contract of claim stores, on a PostgreSQL table partitioned by lists of scopes and by ranges of keys. */
@Tag("postgres")
class ListPartitionedClaimStoreIT extends ClaimStoreContract {

    private static final PostgresServer SERVER = PostgresServer.shared(Layout.LIST);

    @Override
    public ClaimStore store() {
        return SERVER.store();
    }

    @Override
    public void endLease(ClaimId claim) {
        SERVER.endLease(claim);
    }
}
