package io.exactlyonce.claim;

/** What every {@link ClaimStore} must do: an implementation's test extends this. */
public abstract class ClaimStoreContract
        implements ClaimLifeContract,
                LeaseEndContract,
                DoubtContract,
                ClaimBatchContract,
                LookContract,
                ContentionContract {}
