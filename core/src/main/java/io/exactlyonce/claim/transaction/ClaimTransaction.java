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
 * Claims keys, runs a handler, and completes the claims, all in one database transaction. Suits handlers whose effects
 * are all in the database that stores the claims.
 *
 * <p>Guaranteed: the handler's effects and all completions are committed together, or not at all. Only one transaction
 * at a time works on a key. Claims need no lease, because they end together with the transaction.
 *
 * <p>Not guaranteed:
 *
 * <ul>
 *   <li>Effects outside the database may happen more than once, or without a commit.
 *   <li>The handler's effects may be rolled back, because another worker may claim a key through the claim store while
 *       the handler runs.
 *   <li>If the reply to a commit is lost, the commit may look like a failure. The next claim of a key finds out whether
 *       the transaction was committed.
 * </ul>
 */
@FunctionalInterface
public interface ClaimTransaction {

    /** The work under the claims. */
    @FunctionalInterface
    interface BatchWork {
        /**
         * Does the work for the keys that were acquired.
         *
         * @param outcomes one for each request, in the same order; at least one is {@link Acquired}
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
     * The connection pool of the transactions. Each transaction occupies one connection until it ends.
     *
     * @param name distinguishes the pool from others
     * @param connections maximum number of connections
     */
    record Pool(String name, int connections) {}

    /** Makes claim transactions for the application's transaction managers. */
    @FunctionalInterface
    interface Factory {

        /**
         * Makes a claim transaction.
         *
         * @param own the transaction settings of the handler. The claim transaction begins with the same timeout and
         *     isolation level, so that the handler's own transaction can join it
         * @param named true if the handler names its transaction manager. If false, the handler is assumed to write to
         *     the application's only or primary DataSource. Then this DataSource must be the one of the manager's
         *     transactions
         * @throws UnsupportedTransactionException if this manager's transactions cannot hold claims
         */
        ClaimTransaction create(PlatformTransactionManager manager, TransactionAttribute own, boolean named);
    }

    /**
     * Claims the keys, and does the work if at least one of them was acquired. Tries only once.
     *
     * @param requests at least one; if several requests name one key, the later ones are answered as held elsewhere
     * @return one outcome for each request, in the same order. {@link Acquired} means that the work is done and
     *     committed. With any other outcome, this call has not completed the key
     * @throws ClaimTransactionException if the handler, or the settings of its database session, make it impossible to
     *     claim or complete the keys. For example, the session's role may lack the permission to write claims
     * @throws ClaimStoreUnavailableException if the claims got no answer, or if the connection was lost after the work
     *     began. The cause is the work's exception, if there is one
     * @throws Exception the work's exception, or the failure of the commit
     */
    List<ClaimOutcome> execute(List<ClaimRequest> requests, BatchWork work) throws Exception;

    /** Claims one key, does the work, and completes the claim. */
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

    /**
     * Returns whether an exception is only the consequence of an earlier one. For example, PostgreSQL rejects every
     * statement of a transaction after one has failed.
     */
    default boolean isAftermath(Throwable failure) {
        return false;
    }

    /**
     * Returns whether the caller is still in the transaction that contains this claim. False if the work has itself
     * committed or rolled back that transaction.
     */
    default boolean isWithin(ClaimId claim) {
        return true;
    }
}
