package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.test.contract.ClaimStoreContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of claim stores, on PostgreSQL. The build runs these tests on the newest and the oldest supported
 * version.
 */
@Tag("postgres")
class PostgresClaimStoreIT extends ClaimStoreContract {

    private static final PostgresServer SERVER = PostgresServer.shared();

    @Override
    public ClaimStore store() {
        return SERVER.store();
    }

    @Override
    public void endLease(ClaimId claim) {
        SERVER.endLease(claim);
    }

    @Test
    void serverHasTheVersionOfTheBuild() {
        String wanted = System.getProperty("postgres.version");
        assumeThat(wanted).as("only the build says it").isNotNull();

        assertThat(wanted).startsWith(SERVER.version());
    }
}
