package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.PostgresServer.Layout;
import io.exactlyonce.test.contract.ParkedClaimsContract;
import org.junit.jupiter.api.Tag;

/** The contract of parked claims, on a PostgreSQL table with another name, in another schema. */
@Tag("postgres")
class OtherTableParkedClaimsIT extends ParkedClaimsContract {

    private static final PostgresServer SERVER = PostgresServer.shared(Layout.NAMED);

    @Override
    public ClaimStore store() {
        return SERVER.store();
    }

    @Override
    public ParkedClaims parked() {
        return SERVER.parked();
    }

    @Override
    public void endLease(ClaimId claim) {
        SERVER.endLease(claim);
    }
}
