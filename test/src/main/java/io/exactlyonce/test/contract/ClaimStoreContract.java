package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;

/**
 * What every {@link ClaimStore} must do, as JUnit tests. An implementation's test extends this:
 *
 * <pre>{@code
 * class DynamoClaimStoreTests extends ClaimStoreContract {
 *
 *     @Override
 *     public ClaimStore store() {
 *         return store;
 *     }
 *
 *     @Override
 *     public void endLease(ClaimId claim) {
 *         // sets the end of the lease to now where the item's claim id is claim.value()
 *     }
 * }
 * }</pre>
 *
 * <p>Every test uses keys of its own, so that all may share one store.
 */
public abstract class ClaimStoreContract
        implements ClaimLifeContract,
                LeaseEndContract,
                DoubtContract,
                ClaimBatchContract,
                PeekContract,
                ContentionContract,
                CrashContract {

    /** Returns the store under test; many threads use it. */
    @Override
    public abstract ClaimStore store();

    /**
     * Makes the lease of a claim end now, as if its holder had stopped renewing it. Leaves the key alone if the claim does
     * not hold it any more: threads call this while other threads take keys over.
     */
    @Override
    public abstract void endLease(ClaimId claim);
}
