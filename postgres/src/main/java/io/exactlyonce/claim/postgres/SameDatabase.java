package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.primary.PgCatalog;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Checks whether an application transaction uses the claim database.
 *
 * <p>The check takes an advisory lock with a random number in the application's transaction. Then it tries to take the
 * same lock on a connection for claims. If the lock is already taken there, both connections use the same database,
 * because PostgreSQL keeps advisory locks per database.
 *
 * <p>Host names, proxies and load balancers do not matter, and no privilege is needed. Transaction poolers do not
 * matter either, because the lock belongs to a transaction. A replica counts as another database, because it has its
 * own locks.
 */
public final class SameDatabase {

    private static final String TABLE = "SELECT coalesce(pg_catalog.to_regclass('{table}')::pg_catalog.oid::bigint, 0)";

    private static final String DESCRIBE = PgCatalog.sql("""
            SELECT pg_catalog.format('database %s on %s (user %s, search_path %s)', pg_catalog.current_database(),
                coalesce(pg_catalog.host(pg_catalog.inet_server_addr()) {||} ':' {||} pg_catalog.inet_server_port(),
                         'local socket'),
                current_user, pg_catalog.current_setting('search_path'))
            """);

    /**
     * Runs statements outside the caller's transaction. Inside it, Spring would keep a connection of the claims' pool
     * until the transaction ends.
     */
    private final Statements claims;

    private final ClaimTable table;

    /** @param table the claim table */
    public SameDatabase(ClaimTable table) {
        this.claims = table.statements();
        this.table = table;
    }

    /**
     * Returns the number of a key's advisory lock. Statements combine it with the table's OID.
     *
     * <p>A claim transaction holds this lock, because other transactions do not see its row before it commits. If two
     * keys have the same number, one of them may have to wait, but both are claimed correctly.
     *
     * @return the first 8 bytes of the SHA-256 of scope and key; the same in all versions that may run side by side
     */
    public static long number(ClaimKey key) {
        return HexFormat.fromHexDigitsToLong(key.downstreamKey(), 0, 2 * Long.BYTES);
    }

    /**
     * Returns the DataSources whose connections the thread's open transaction uses. Empty if no transaction is open, or
     * if the transaction uses no JDBC connection.
     */
    public static List<DataSource> dataSourcesOfTransaction() {
        List<DataSource> bound = new ArrayList<>();
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            TransactionSynchronizationManager.getResourceMap().forEach((key, resource) -> {
                if (resource instanceof ConnectionHolder && key instanceof DataSource dataSource) {
                    bound.add(dataSource);
                }
            });
        }
        return bound;
    }

    /** Returns whether the transaction uses the claim database. */
    public boolean isSame(JdbcTemplate transaction) {
        long number = ThreadLocalRandom.current().nextLong();
        String lock = "SELECT pg_catalog.pg_try_advisory_xact_lock(?)";
        return Boolean.TRUE.equals(transaction.queryForObject(lock, Boolean.class, number))
                && !claims.ask(lock, Boolean.class, number);
    }

    /** Returns the configured name of the claim table. */
    public String tableName() {
        return table.name();
    }

    /** Returns the claim table's name with its schema. */
    public String qualifiedTable() {
        return schema() + "." + table.relation();
    }

    /** Returns the claim table's OID. */
    public long table() {
        return claims.ask(table.sql(TABLE), Long.class);
    }

    /** Returns the claim table's schema. */
    public String schema() {
        return table.schema();
    }

    public String describeClaims() {
        return claims.ask(DESCRIBE, String.class);
    }

    /** Describes database, server, user and search path. */
    public static String describe(JdbcTemplate jdbc) {
        return String.valueOf(jdbc.queryForObject(DESCRIBE, String.class));
    }
}
