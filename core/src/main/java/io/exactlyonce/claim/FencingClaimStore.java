package io.exactlyonce.claim;

/** A store that can bind an application's transaction to a claim, because both use the same database. */
public interface FencingClaimStore extends ClaimStore {

    /**
     * Checks that a claim holds its key, within the calling thread's application transaction. Until that transaction
     * ends, no other claim can take the key over. Renewal and resolution of the claim do not wait for the transaction.
     *
     * @return whether the claim holds its key
     * @throws IllegalStateException if the thread has no open transaction of the database that stores the claims
     */
    boolean fence(ClaimId claim);
}
