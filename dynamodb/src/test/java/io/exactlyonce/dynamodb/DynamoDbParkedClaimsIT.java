package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import io.exactlyonce.test.contract.ParkedClaimsContract;

/** The contract of parked claims, on DynamoDB Local. */
class DynamoDbParkedClaimsIT extends ParkedClaimsContract {

    private static final StoreOnTable TABLE = StoreOnTable.create();

    @Override
    public ClaimStore store() {
        return TABLE.store();
    }

    @Override
    public ParkedClaims parked() {
        return TABLE.parked();
    }

    @Override
    public void endLease(ClaimId claim) {
        TABLE.endLease(claim);
    }
}
