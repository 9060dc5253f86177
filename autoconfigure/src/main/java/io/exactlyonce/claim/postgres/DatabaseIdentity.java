package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.postgres.jdbc.AdvisoryLock;
import io.exactlyonce.claim.postgres.jdbc.RetryingTransaction;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds out whether a transaction of the application's is one of the database that keeps the claims.
 *
 * <p>It takes an advisory lock with a random number in the transaction, and sees whether the claims' pool is refused the
 * same number. Such locks are kept by each server for each of its databases, so this compares server and database at
 * once, whatever host names, proxies and balancers lie between. It takes no privilege, unlike reading the system identifier;
 * and the lock belongs to a transaction, not to a session, so that a pooler between transactions makes no difference. A
 * replica grants locks of its own, so it is another server here.
 */
public final class DatabaseIdentity {

    /** The search path, and maybe the user, decide which table the name means. */
    private static final String TABLE = "SELECT coalesce(to_regclass('exactly_once_claim')::oid::bigint, 0)";

    private static final String DESCRIBE = """
            SELECT format('database %s on %s (user %s, search_path %s)', current_database(),
                          coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket'),
                          current_user, current_setting('search_path'))
            """;

    private final JdbcTemplate claims;

    /** In a transaction of its own: otherwise the caller's would keep a connection of the claims' pool to its end. */
    private final RetryingTransaction aside;

    /** @param claims reaches the database that keeps the claims */
    public DatabaseIdentity(DataSource claims) {
        this.claims = new JdbcTemplate(claims);
        this.aside = new RetryingTransaction(claims);
    }

    /**
     * Returns the DataSources whose connections the open transaction has bound to the calling thread, rather than those that
     * are configured: none if it speaks no JDBC.
     */
    public static List<DataSource> dataSourcesOfTransaction() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            return List.of();
        }
        return TransactionSynchronizationManager.getResourceMap().entrySet().stream()
                .filter(resource -> resource.getValue() instanceof ConnectionHolder)
                .map(Map.Entry::getKey)
                .filter(DataSource.class::isInstance)
                .map(DataSource.class::cast)
                .toList();
    }

    /** Returns whether the transaction that this template works in is one of the claims' database. */
    public boolean isSame(JdbcTemplate transaction) {
        long number = ThreadLocalRandom.current().nextLong();
        return AdvisoryLock.tryTake(transaction, number) && !aside.execute(() -> AdvisoryLock.tryTake(claims, number));
    }

    /** Returns whether the claim table's name means the same table in both. */
    public boolean isSameTable(JdbcTemplate transaction) {
        return table(transaction) == aside.execute(() -> table(claims));
    }

    public String describeClaims() {
        return aside.execute(() -> describe(claims));
    }

    /** Names database, server, user and search path, for people. */
    public static String describe(JdbcTemplate jdbc) {
        return String.valueOf(jdbc.queryForObject(DESCRIBE, String.class));
    }

    private static long table(JdbcTemplate jdbc) {
        return Objects.requireNonNull(jdbc.queryForObject(TABLE, Long.class));
    }
}
