package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;

/** The store that the contract tests use. */
interface StoreUnderTest {

    /** Returns the store under test. */
    ClaimStore store();

    /** Ends the lease of a claim now, if the claim still holds its key. */
    void endLease(ClaimId claim);
}
