package io.exactlyonce.claim;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import org.jspecify.annotations.Nullable;

/**
 * Claims a key, does the work, and completes the claim, all in one transaction of the application's own, for work whose
 * effects are all in the database that keeps the claims.
 *
 * <p>Guaranteed: the work's effects and the completion are committed together, or neither is. At most one transaction works
 * on a key at any time; it needs no lease, since the database ends the claim together with the transaction.
 *
 * <p>Not guaranteed: effects elsewhere. And a commit whose reply is lost looks like a failure: the next claim of the key
 * finds out which it was.
 */
public interface ClaimTransaction {

    /** What is to be done under the claim. */
    @FunctionalInterface
    interface Work {
        /**
         * Does the work.
         *
         * @return its result as JSON, or {@code null} if it has none
         */
        @Nullable String run(Acquired claim) throws Throwable;
    }

    /**
     * Claims the key, and works if it is free. It is tried once: work is never repeated.
     *
     * @return {@link Acquired} if the work is done and committed; any other outcome means that nothing was written
     * @throws Throwable what the work threw, or why it could not be committed
     */
    ClaimOutcome execute(ClaimRequest request, Work work) throws Throwable;
}
