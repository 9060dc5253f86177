package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;

/** The implementation that the contract tests. */
interface StoreUnderTest {

    /** Returns the store under test. */
    ClaimStore store();

    /** Makes the lease of a claim end now, if the claim still holds its key. */
    void endLease(ClaimId claim);
}
