package io.exactlyonce.claim;

/**
 * A claim store in the application's own database. A handler can check in its transaction that its claim still holds
 * the key.
 */
public interface FencingClaimStore extends ClaimStore {

    /**
     * Checks that a claim holds its key. If it does, no other claim can take the key over until the application
     * transaction of the calling thread ends. Meanwhile, the claim can still be renewed and resolved.
     *
     * @return whether the claim holds its key
     * @throws IllegalStateException if the thread has no open transaction of the database that stores the claims
     */
    boolean fence(ClaimId claim);
}
