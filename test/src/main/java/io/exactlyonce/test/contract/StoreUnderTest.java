package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;

/** The store that the contract tests use. */
interface StoreUnderTest {

    /** Returns the store under test. */
    ClaimStore store();

    /** Ends the lease of a claim now. Does nothing if the claim no longer holds its key. */
    void endLease(ClaimId claim);
}
