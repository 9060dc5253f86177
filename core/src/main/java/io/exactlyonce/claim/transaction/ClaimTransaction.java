package io.exactlyonce.claim.transaction;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * Claims keys, does the work, and completes the claims in one application transaction, for work whose effects are all
 * in the database that stores the claims.
 *
 * <p>Guaranteed: the work's effects and all completions are committed together, or none is. At most one transaction works
 * on a key at any time; it needs no lease, since the database ends the claims together with the transaction.
 *
 * <p>Not guaranteed: effects elsewhere. A claim through the store can take a key meanwhile; then all is rolled back. A
 * commit whose reply is lost may look like a failure: the next claim of a key finds out which it was.
 */
@FunctionalInterface
public interface ClaimTransaction {

    /** The work under the claims. */
    @FunctionalInterface
    interface BatchWork {
        /**
         * Does the work.
         *
         * @param outcomes one for each request, in their order; at least one is {@link Acquired}
         * @return results as JSON of the claims that have one
         */
        Map<ClaimId, String> run(List<ClaimOutcome> outcomes) throws Exception;
    }

    /** The work under a single claim. */
    @FunctionalInterface
    interface Work {
        /**
         * Does the work.
         *
         * @return its result as JSON, or {@code null} if it has none
         */
        @Nullable String run(Acquired claim) throws Exception;
    }

    /**
     * A pool of connections, each of which one transaction occupies until it ends.
     *
     * @param name tells it from other pools
     * @param connections how many there are at most
     */
    record Pool(String name, int connections) {}

    /** Makes claim transactions for the application's transaction managers. */
    @FunctionalInterface
    interface Factory {

        /**
         * Makes a claim transaction.
         *
         * @param manager the application's transaction manager
         * @param own the handler's own transaction: that of the claim begins with its timeout and isolation level, so that
         *     it can join
         * @param named whether the handler names its manager; if not, it is presumed to write through the application's only
         *     or primary DataSource, which must join the manager's transactions then
         * @throws UnsupportedTransactionException if this manager's transactions cannot hold claims
         */
        ClaimTransaction create(PlatformTransactionManager manager, TransactionAttribute own, boolean named);
    }

    /**
     * Claims the keys, and does the work if any of them is free. It is tried once: work is never repeated.
     *
     * @param requests at least one; of several for one key the later ones are held elsewhere
     * @return one outcome for each request, in their order: {@link Acquired} if the work is done and committed; any other one
     *     means that nothing was completed for that key
     * @throws ClaimTransactionException if the handler, or the transaction's session, is why they cannot be claimed or completed
     * @throws ClaimStoreUnavailableException if the claims got no answer, or, once the work has begun, if the
     *     connection was lost. The cause is the work's exception, if it threw one
     * @throws Exception the work's exception, or the failure of its commit
     */
    List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception;

    /** Claims one key, does the work, and completes the claim, as {@link #execute(java.util.List, BatchWork)} does for many. */
    default ClaimOutcome execute(ClaimRequest request, Work work) throws Exception {
        return execute(List.of(request), outcomes -> {
                    String result = work.run((Acquired) outcomes.get(0));
                    return result == null ? Map.of() : Map.of(request.id(), result);
                })
                .get(0);
    }

    /** Returns the pool of the transaction's connections; {@code null} if it is unknown. */
    default @Nullable Pool pool() {
        return null;
    }

    /**
     * Returns whether a failure of the work only shows that an earlier failure aborted the transaction, so that the work is not its cause.
     */
    default boolean isAftermath(Throwable failure) {
        return false;
    }

    /**
     * Returns whether the caller's open transaction is the one in which this claim's work is done: work that has committed or
     * rolled back by itself has left it.
     */
    default boolean isWithin(ClaimId claim) {
        return true;
    }
}
