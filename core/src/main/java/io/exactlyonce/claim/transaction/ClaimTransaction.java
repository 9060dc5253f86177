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
 * <p>Guaranteed: the work's effects and all completions are committed together, or none is. At most one transaction
 * works on a key at any time. A claim needs no lease, because the database ends it together with the transaction.
 *
 * <p>Not guaranteed: effects elsewhere. While the work runs, a claim through the store can take a key; then the whole
 * transaction is rolled back. A commit whose reply is lost may look like a failure; the next claim of a key finds out
 * whether it was committed.
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
     * @param name distinguishes the pool from others
     * @param connections the largest number of connections
     */
    record Pool(String name, int connections) {}

    /** Makes claim transactions for the application's transaction managers. */
    @FunctionalInterface
    interface Factory {

        /**
         * Makes a claim transaction.
         *
         * @param manager the application's transaction manager
         * @param own the settings of the handler's own transaction; the claim's transaction begins with the same
         *     timeout and isolation level, so that the handler's transaction can join it
         * @param named whether the handler names its manager. If it does not, its writes are assumed to go through
         *     the application's only or primary DataSource, which must then join the manager's transactions
         * @throws UnsupportedTransactionException if this manager's transactions cannot hold claims
         */
        ClaimTransaction create(PlatformTransactionManager manager, TransactionAttribute own, boolean named);
    }

    /**
     * Claims the keys, and does the work if at least one of them is free. Tries once, and never repeats the work.
     *
     * @param requests at least one; if several requests name one key, the later ones are answered as held elsewhere
     * @return one outcome for each request, in their order: {@link Acquired} if the work is done and committed; any
     *     other one means that nothing was completed for that key
     * @throws ClaimTransactionException if the handler or the transaction's session prevents the claims or their
     *     completion
     * @throws ClaimStoreUnavailableException if the claims got no answer, or if the connection was lost after the
     *     work began. The cause is the work's exception, if it threw one
     * @throws Exception the work's exception, or the failure of its commit
     */
    List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception;

    /**
     * Claims one key, does the work, and completes the claim, as {@link #execute(java.util.List, BatchWork)} does for
     * many.
     */
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

    /** Returns whether a failure of the work only follows from an earlier failure, which aborted the transaction. */
    default boolean isAftermath(Throwable failure) {
        return false;
    }

    /**
     * Returns whether the caller's open transaction is the one in which this claim's work is done. Returns false after
     * work has itself committed or rolled back that transaction.
     */
    default boolean isWithin(ClaimId claim) {
        return true;
    }
}
