package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import io.exactlyonce.test.contract.ClaimStoreContract;

/** The contract of claim stores, on DynamoDB Local. */
class DynamoDbClaimStoreIT extends ClaimStoreContract {

    private static final StoreOnTable TABLE = StoreOnTable.create();

    @Override
    public ClaimStore store() {
        return TABLE.store();
    }

    @Override
    public void endLease(ClaimId claim) {
        TABLE.endLease(claim);
    }
}
