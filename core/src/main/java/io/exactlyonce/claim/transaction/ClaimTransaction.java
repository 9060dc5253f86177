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
 * Claims keys, does the work, and completes the claims, all in one application transaction. Suits work whose effects
 * are all in the database that stores the claims.
 *
 * <p>Guaranteed: either the work's effects and all completions are committed, or none of them. At most one transaction
 * works on a key at any time. A claim needs no lease, because the claim ends together with the transaction.
 *
 * <p>Not guaranteed:
 *
 * <ul>
 *   <li>Effects outside the database may happen more than once, or without a commit.
 *   <li>The work may be rolled back: while it runs, another worker may claim a key through the claim store.
 *   <li>A commit whose reply is lost may look like a failure. The next claim of a key finds out whether the transaction
 *       was committed.
 * </ul>
 */
@FunctionalInterface
public interface ClaimTransaction {

    /** The work under the claims. */
    @FunctionalInterface
    interface BatchWork {
        /**
         * Does the work.
         *
         * @param outcomes one for each request, in the order of the requests; at least one is {@link Acquired}
         * @return the results as JSON, by claim; claims without a result are left out
         */
        Map<ClaimId, String> run(List<ClaimOutcome> outcomes) throws Exception;
    }

    /** The work under a single claim. */
    @FunctionalInterface
    interface Work {
        /**
         * Does the work.
         *
         * @return the work's result as JSON, or {@code null} if the work has no result
         */
        @Nullable String run(Acquired claim) throws Exception;
    }

    /**
     * A pool of connections. Each transaction occupies one connection until the transaction ends.
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
         * @param own the settings of the handler's own transaction. The claim transaction begins with the same timeout
         *     and isolation level, so that the handler's transaction can join it
         * @param named whether the handler names its transaction manager. If the handler names none, its writes are
         *     assumed to go through the application's only or primary DataSource. This DataSource must take part in the
         *     manager's transactions
         * @throws UnsupportedTransactionException if this manager's transactions cannot hold claims
         */
        ClaimTransaction create(PlatformTransactionManager manager, TransactionAttribute own, boolean named);
    }

    /**
     * Claims the keys, and does the work if at least one of the keys is free. Tries once, and never repeats the work.
     *
     * @param requests at least one; if several requests name one key, the later ones are answered as held elsewhere
     * @return one outcome for each request, in the order of the requests. {@link Acquired} means that the work is done
     *     and committed. Any other outcome means that this call completed nothing for the key
     * @throws ClaimTransactionException if the handler or the transaction's session prevents the claims or their
     *     completion
     * @throws ClaimStoreUnavailableException if the claims got no answer, or if the connection was lost after the work
     *     began. The cause is the work's exception, if the work threw one
     * @throws Exception the work's exception, or the failure of the commit
     */
    List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception;

    /**
     * Claims one key, does the work, and completes the claim. {@link #execute(java.util.List, BatchWork)} does the same
     * for many keys.
     */
    default ClaimOutcome execute(ClaimRequest request, Work work) throws Exception {
        return execute(List.of(request), outcomes -> {
                    String result = work.run((Acquired) outcomes.get(0));
                    return result == null ? Map.of() : Map.of(request.id(), result);
                })
                .get(0);
    }

    /** Returns the pool of the transaction's connections; {@code null} if the pool is not known. */
    default @Nullable Pool pool() {
        return null;
    }

    /** Returns whether a failure of the work only shows that an earlier failure had already aborted the transaction. */
    default boolean isAftermath(Throwable failure) {
        return false;
    }

    /**
     * Returns whether the caller's open transaction is the transaction in which this claim's work is done. Returns
     * false if the work has itself committed or rolled back that transaction.
     */
    default boolean isWithin(ClaimId claim) {
        return true;
    }
}
