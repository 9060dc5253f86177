package io.exactlyonce.claim.postgres.transaction;

import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.transaction.ClaimTransaction.Pool;
import io.exactlyonce.claim.transaction.PassiveTransactionListener;
import java.sql.Connection;
import java.util.Objects;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.interceptor.DelegatingTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The application's transactions that hold claims. Each begins as the handler's own {@code @Transactional} says, which
 * then joins it: only the beginning of a transaction can set its timeout and isolation level.
 *
 * @param manager the application's transaction manager
 * @param own the handler's own transaction
 * @param dataSource whose connections the manager binds
 * @param seen a transaction as it was seen at startup
 */
public record ApplicationTransactions(
        PlatformTransactionManager manager, TransactionAttribute own, DataSource dataSource, Seen seen) {

    /** Managers whose commit is their connection's and nothing else, unless something listens. */
    private static final Set<Class<?>> PLAIN = Set.of(JdbcTransactionManager.class, DataSourceTransactionManager.class);

    private static final String SEE = """
            SELECT pg_catalog.current_setting('transaction_isolation') {=} ANY (ARRAY['repeatable read', 'serializable'])
                       AS one_snapshot,
                   coalesce(pg_catalog.to_regclass('{table}')::pg_catalog.oid::bigint, 0) AS claim_table""";

    /**
     * A transaction that was proved to be of the claims' database.
     *
     * @param hasOneSnapshot whether all statements of a transaction see what its first one saw: REPEATABLE READ or SERIALIZABLE
     * @param url its JDBC URL, if its driver reports one
     * @param table the OID of the claims' table
     */
    public record Seen(boolean hasOneSnapshot, @Nullable String url, long table) {

        /** Reads the transaction that a template works in. */
        public static Seen in(JdbcTemplate transaction, ClaimTable claims) {
            String url = transaction.execute(
                    (Connection connection) -> connection.getMetaData().getURL());
            return Objects.requireNonNull(transaction.queryForObject(
                    claims.sql(SEE),
                    (row, number) -> new Seen(row.getBoolean("one_snapshot"), url, row.getLong("claim_table"))));
        }
    }

    public ApplicationTransactions {
        own = new Apart(own);
    }

    /** A transaction that is open already would be committed after the message is acknowledged. */
    @SuppressWarnings("serial")
    private static final class Apart extends DelegatingTransactionAttribute {

        Apart(TransactionAttribute own) {
            super(own);
        }

        @Override
        public int getPropagationBehavior() {
            return TransactionDefinition.PROPAGATION_REQUIRES_NEW;
        }
    }

    TransactionStatus begin() {
        return manager.getTransaction(own);
    }

    /** Returns whether the open transaction binds a connection of the DataSource that was proved at startup. */
    boolean isBound() {
        return SameDatabase.dataSourcesOfTransaction().contains(dataSource);
    }

    /**
     * Returns whether the manager's commit is only its connection's commit, so that it can be sent with the completion:
     * the manager then finds no transaction to commit. JPA flushes when it commits, and a synchronization, a listener
     * of the manager or an extended manager may also write then. A statement with a timeout may be cancelled, and a
     * commit must not: PostgreSQL would no longer wait for its replicas.
     */
    boolean mayCommitByStatement() {
        return PLAIN.contains(manager.getClass())
                && areAllPassive(((ConfigurableTransactionManager) manager).getTransactionExecutionListeners())
                && !connection().hasTimeout()
                && TransactionSynchronizationManager.getSynchronizations().isEmpty();
    }

    /** Returns the pool of the connections, if HikariCP makes it, also behind a proxy. */
    @Nullable Pool pool() {
        HikariDataSource pool =
                DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
        return pool == null ? null : new Pool(String.valueOf(pool.getPoolName()), pool.getMaximumPoolSize());
    }

    private static boolean areAllPassive(Iterable<TransactionExecutionListener> listeners) {
        for (TransactionExecutionListener listener : listeners) {
            if (!(listener instanceof PassiveTransactionListener)) {
                return false;
            }
        }
        return true;
    }

    /** @throws org.springframework.transaction.TransactionTimedOutException if the transaction's timeout is over */
    void requireInTime() {
        ConnectionHolder connection = connection();
        if (connection.hasTimeout()) {
            connection.getTimeToLiveInMillis();
        }
    }

    private ConnectionHolder connection() {
        return (ConnectionHolder) Objects.requireNonNull(TransactionSynchronizationManager.getResource(dataSource));
    }
}
