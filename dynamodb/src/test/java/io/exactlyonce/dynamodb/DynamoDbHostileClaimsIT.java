package io.exactlyonce.dynamodb;

import io.exactlyonce.dynamodb.testing.StoreOnTable;
import io.exactlyonce.test.fuzz.Fuzz;
import io.exactlyonce.test.fuzz.HostileClaims;
import org.junit.jupiter.api.Test;

/** Hostile keys, results and errors in DynamoDB. */
class DynamoDbHostileClaimsIT {

    private static final StoreOnTable TABLE = StoreOnTable.create();

    @Test
    void everyKeyIsItsOwnAndEveryResultComesBack() {
        Fuzz.check(8, HostileClaims::any, runs -> HostileClaims.check(TABLE.store(), TABLE.parked(), runs));
    }
}
