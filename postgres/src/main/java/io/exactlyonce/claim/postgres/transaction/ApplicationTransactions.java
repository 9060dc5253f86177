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
 * Begins application transactions that hold claims. Each one has the timeout and isolation level of the handler's own
 * {@code @Transactional}, because these can only be set at the beginning. The handler then joins the transaction.
 *
 * @param manager the application's transaction manager
 * @param own the transaction settings of the handler
 * @param dataSource the DataSource whose connections the manager uses
 * @param seen facts about a transaction that was inspected at startup
 */
public record ApplicationTransactions(
        PlatformTransactionManager manager, TransactionAttribute own, DataSource dataSource, Seen seen) {

    /** Transaction managers whose commit does nothing else than commit the connection. */
    private static final Set<Class<?>> PLAIN = Set.of(JdbcTransactionManager.class, DataSourceTransactionManager.class);

    private static final String SEE = """
            SELECT pg_catalog.current_setting('transaction_isolation') {=} ANY (ARRAY['repeatable read', 'serializable'])
                       AS one_snapshot,
                   coalesce(pg_catalog.to_regclass('{table}')::pg_catalog.oid::bigint, 0) AS claim_table""";

    /**
     * Facts about a transaction of the claim database.
     *
     * @param hasOneSnapshot whether all statements of a transaction see the same snapshot, as in REPEATABLE READ and
     *     SERIALIZABLE
     * @param url the JDBC URL of the transaction's connection, if the driver reports one
     * @param table the claim table's OID
     */
    public record Seen(boolean hasOneSnapshot, @Nullable String url, long table) {

        /** Inspects the transaction of the given template. */
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

    /**
     * The handler's transaction settings, except that they always begin a new transaction. Otherwise, the handler could
     * join a transaction that is already open. The message would then be acknowledged before that transaction commits.
     */
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

    /** Returns whether the open transaction uses the DataSource that was checked at startup. */
    boolean isBound() {
        return SameDatabase.dataSourcesOfTransaction().contains(dataSource);
    }

    /**
     * Returns whether the {@code COMMIT} may be sent together with the completion, which saves a round trip. This
     * requires that nothing else happens at the commit.
     *
     * <p>Returns false in these cases:
     * <ul>
     *   <li>The manager itself does more at the commit. For example, JPA's manager writes changes.
     *   <li>A listener of the manager or a synchronization may write at the commit.
     *   <li>The transaction has a timeout. It could cancel the {@code COMMIT} while PostgreSQL waits for its replicas.
     * </ul>
     */
    boolean mayCommitByStatement() {
        return PLAIN.contains(manager.getClass())
                && areAllPassive(((ConfigurableTransactionManager) manager).getTransactionExecutionListeners())
                && !connection().hasTimeout()
                && TransactionSynchronizationManager.getSynchronizations().isEmpty();
    }

    /** Returns name and maximum size of the HikariCP pool, even inside a proxy; {@code null} for another pool. */
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

    /** @throws org.springframework.transaction.TransactionTimedOutException if the transaction's timeout has expired */
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
