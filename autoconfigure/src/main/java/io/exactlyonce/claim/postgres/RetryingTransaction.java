package io.exactlyonce.claim.postgres;

import java.sql.SQLException;
import java.util.Map;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A transaction of its own, whatever the caller has open, that is repeated when PostgreSQL rolled it back for the sake
 * of another, and once when its server turned out to take no writes any more: the pool has thrown such connections out by
 * then, and a new one leads to the primary. These transactions have done nothing and nobody has been told a result, so
 * repeating them is safe. Any other failure is the caller's.
 *
 * <p>The isolation level is the connection pool's: asking for it here would cost a round trip in each transaction. What
 * runs here needs READ COMMITTED to see what others committed meanwhile; under a stricter level it fails, but claims
 * nothing wrongly.
 */
final class RetryingTransaction {

    private static final String DEADLOCK_DETECTED = "40P01";
    private static final String SERIALIZATION_FAILURE = "40001";
    private static final String READ_ONLY_SQL_TRANSACTION = "25006";

    /** Most tries, by the SQLSTATE that the last one ended with. Any other is not tried again. */
    private static final Map<String, Integer> MAX_TRIES =
            Map.of(DEADLOCK_DETECTED, 5, SERIALIZATION_FAILURE, 5, READ_ONLY_SQL_TRANSACTION, 2);

    private final TransactionTemplate transaction;

    RetryingTransaction(DataSource dataSource) {
        this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
        this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    }

    <T> T execute(Supplier<T> work) {
        for (int attempt = 1; ; attempt++) {
            try {
                return transaction.execute(status -> work.get());
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
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return MAX_TRIES.getOrDefault(sql.getSQLState(), 1);
            }
        }
        return 1;
    }
}
