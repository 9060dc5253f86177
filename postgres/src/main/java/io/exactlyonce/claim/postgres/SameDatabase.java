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
 * <p>The check takes an advisory lock with a random number in the application's transaction. The check then tries to
 * take the same lock on a connection of the claims' pool. If the second try fails, both connections use the same
 * database, because PostgreSQL keeps advisory locks per database.
 *
 * <p>Host names, proxies and load balancers do not affect the result. The check needs no privilege, unlike reading the
 * system identifier. The check works through transaction poolers, because the lock belongs to a transaction and not to
 * a session. A replica has its own locks, so the check treats a replica as another database.
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
     * Runs statements in autocommit, so that they take part in no transaction. The caller's transaction would keep
     * their connection of the claims' pool until its end.
     */
    private final Statements claims;

    private final ClaimTable table;

    /** @param table the claim table */
    public SameDatabase(ClaimTable table) {
        this.claims = table.statements();
        this.table = table;
    }

    /**
     * Returns the key's part of the number of an advisory lock. The other part is the table's OID.
     *
     * <p>A claim transaction takes the key's lock, because other transactions do not see its row before it commits. Two
     * keys can have the same lock number. One of them may then have to wait, but is claimed correctly, because the
     * key's row decides.
     *
     * @return the first 8 bytes of the SHA-256 of scope and key; the same in all versions that may run side by side
     */
    public static long number(ClaimKey key) {
        return HexFormat.fromHexDigitsToLong(key.downstreamKey(), 0, 2 * Long.BYTES);
    }

    /**
     * Returns the DataSources of the connections that the open transaction has bound to the calling thread. The
     * configuration does not matter. Empty if no transaction is open, or if the transaction uses no JDBC connection.
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

    /** Returns whether the template's transaction uses the claim database. */
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
