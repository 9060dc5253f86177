package io.exactlyonce.claim.postgres.jdbc;

import io.exactlyonce.primary.ConnectionFailure;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A transaction of its own, whatever the caller has open, that is repeated when PostgreSQL rolled it back for the sake
 * of another one, and once when its connection broke or its server turned out to take no writes any more: the pool has
 * thrown such connections out by then, and a new one leads to the primary. Any other failure is the caller's.
 *
 * <p>What runs here must be repeatable with the same arguments, as the store's calls are. A transaction that was rolled
 * back has done nothing; one whose connection broke in its commit may have happened, and finds its own writes.
 *
 * <p>Nothing is repeated for a reply that did not come in time. The socket's timeout is spent by then, a renewal that
 * hangs has a lease to lose, and its caller knows how long it may still try.
 *
 * <p>The isolation level is the connection pool's: asking for it here would cost a round trip in each transaction. What
 * runs here needs READ COMMITTED to see what other transactions committed meanwhile; under a stricter level it fails,
 * but claims nothing wrongly.
 */
public final class RetryingTransaction {

    private static final String DEADLOCK_DETECTED = "40P01";
    private static final String SERIALIZATION_FAILURE = "40001";

    /** SQLSTATEs of transactions that another one was preferred to. */
    private static final Set<String> ROLLED_BACK = Set.of(DEADLOCK_DETECTED, SERIALIZATION_FAILURE);

    private static final int MAX_TRIES_ROLLED_BACK = 5;
    private static final int MAX_TRIES_STALE = 2;

    /** {@code null} if the work is a transaction by itself. */
    private final @Nullable TransactionTemplate transaction;

    private final Runnable firstStatement;

    public RetryingTransaction(DataSource dataSource) {
        this(ofItsOwn(dataSource), () -> {});
    }

    private RetryingTransaction(@Nullable TransactionTemplate transaction, Runnable firstStatement) {
        this.transaction = transaction;
        this.firstStatement = firstStatement;
    }

    /**
     * Leaves the transaction to the work: one {@link SingleRoundTripQuery#transaction}, which costs no round trip more.
     */
    public static RetryingTransaction ofOneStatement() {
        return new RetryingTransaction(null, () -> {});
    }

    /** Says what its commit waits for, and that rows are found by index, which costs a round trip: for writes that are rare. */
    public static RetryingTransaction ofWrites(DataSource dataSource, StatementSettings settings) {
        var jdbc = new JdbcTemplate(dataSource);
        return new RetryingTransaction(ofItsOwn(dataSource), () -> jdbc.execute(settings.writeRows()));
    }

    private static TransactionTemplate ofItsOwn(DataSource dataSource) {
        var transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return transaction;
    }

    public <T> T execute(Supplier<T> work) {
        for (int attempt = 1; ; attempt++) {
            try {
                return transaction == null
                        ? work.get()
                        : transaction.execute(status -> {
                            firstStatement.run();
                            return work.get();
                        });
            } catch (CannotCreateTransactionException noConnection) {
                // The pool has tried for as long as it may, also if all that it reached was read-only.
                throw noConnection;
            } catch (DataAccessException | TransactionException thrown) {
                RuntimeException failure = reason(thrown);
                if (attempt >= maxTries(failure)) {
                    throw failure;
                }
            }
        }
    }

    /** A connection that was evicted for a failure cannot be rolled back any more: what helps is the failure. */
    private static RuntimeException reason(RuntimeException thrown) {
        if (thrown instanceof TransactionSystemException system
                && system.getApplicationException() instanceof RuntimeException failure) {
            failure.addSuppressed(system);
            return failure;
        }
        return thrown;
    }

    private static int maxTries(Throwable failure) {
        if (ROLLED_BACK.contains(SqlStates.of(failure))) {
            return MAX_TRIES_ROLLED_BACK;
        }
        return ConnectionFailure.isStale(failure) ? MAX_TRIES_STALE : 1;
    }
}
