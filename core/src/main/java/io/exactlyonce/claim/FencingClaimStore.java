package io.exactlyonce.claim;

/**
 * A store in the application's own database. A handler's transaction can therefore check that its claim still holds the
 * key.
 */
public interface FencingClaimStore extends ClaimStore {

    /**
     * Checks that a claim holds its key, and keeps it so until the calling thread's application transaction ends. No
     * other claim can take the key over before. Renewal and resolution of the claim do not wait for the transaction.
     *
     * @return whether the claim holds its key
     * @throws IllegalStateException if the thread has no open transaction of the database that stores the claims
     */
    boolean fence(ClaimId claim);
}
