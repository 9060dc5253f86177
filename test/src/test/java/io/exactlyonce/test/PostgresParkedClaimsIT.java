package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.contract.ParkedClaimsContract;
import org.junit.jupiter.api.Tag;

/** The contract of parked claims, on PostgreSQL. */
@Tag("postgres")
class PostgresParkedClaimsIT extends ParkedClaimsContract {

    private static final PostgresServer SERVER = PostgresServer.shared();

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
