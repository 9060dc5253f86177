package io.exactlyonce.test.contract;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;

/**
 * The contract of {@link ClaimStore}, as JUnit tests. The test of an implementation extends this class:
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
 * <p>Every test uses its own keys, so all tests may share one store.
 */
public abstract class ClaimStoreContract
        implements ClaimLifeContract,
                LeaseEndContract,
                DoubtContract,
                ClaimBatchContract,
                PeekContract,
                ContentionContract,
                CrashContract {

    /** Returns the store under test. Many threads use the store at the same time. */
    @Override
    public abstract ClaimStore store();

    /**
     * Expires the lease of a claim, as if its owner had stopped renewing the lease. Implementations must do nothing if
     * the claim no longer holds its key, because other threads may take over the key at the same time.
     */
    @Override
    public abstract void endLease(ClaimId claim);
}
