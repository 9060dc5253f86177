package io.exactlyonce.claim;

/** A store that shares transactions with applications, so that it can bind a transaction to a claim. */
public interface FencingClaimStore extends ClaimStore {

    /**
     * Checks, in the application transaction of the calling thread, that a claim holds its key, and blocks takeovers
     * until that transaction ends. Renewal and resolution of the claim do not wait.
     *
     * @return whether the claim holds its key
     * @throws IllegalStateException if there is no transaction of the database that stores the claims
     */
    boolean fence(ClaimId claim);
}
