package io.exactlyonce.claim;

/** What the contract's parts need of an implementation. */
interface StoreUnderTest {

    /** Returns the store under test. */
    ClaimStore store();

    /** Makes the lease of a claim end now. */
    void endLease(ClaimId claim);
}
