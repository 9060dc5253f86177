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
 * Finds out whether an application transaction uses the database of claims.
 *
 * <p>It takes an advisory lock with a random number in the transaction, and sees whether the claims' pool is refused the
 * same number. Such locks are kept by each server for each of its databases, so this compares server and database at
 * once, whatever host names, proxies and balancers lie between. It takes no privilege, unlike reading the system identifier;
 * and the lock belongs to a transaction, not to a session, so that a pooler between transactions makes no difference. A
 * replica grants locks of its own, so it is another server here.
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
     * Runs statements in autocommit, because otherwise the caller's transaction would keep a connection of the claims' pool until its end.
     */
    private final Statements claims;

    private final ClaimTable table;

    /** @param table where the claims are kept */
    public SameDatabase(ClaimTable table) {
        this.claims = table.statements();
        this.table = table;
    }

    /**
     * Returns the key's part of the number of the advisory lock that a transaction takes on a key whose row no other
     * transaction can see until it commits; the table's number is the other part. If two keys share a lock, that costs a
     * wait, never correctness, because the key's row decides.
     *
     * @return the first 8 bytes of the SHA-256 of scope and key: the same for all versions that may run side by side
     */
    public static long number(ClaimKey key) {
        return HexFormat.fromHexDigitsToLong(key.downstreamKey(), 0, 2 * Long.BYTES);
    }

    /**
     * Returns the DataSources whose connections the open transaction has bound to the calling thread, not the
     * configured ones; empty without JDBC.
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

    /** Returns whether the transaction that this template works in is one of the claims' database. */
    public boolean isSame(JdbcTemplate transaction) {
        long number = ThreadLocalRandom.current().nextLong();
        String lock = "SELECT pg_catalog.pg_try_advisory_xact_lock(?)";
        return Boolean.TRUE.equals(transaction.queryForObject(lock, Boolean.class, number))
                && !claims.ask(lock, Boolean.class, number);
    }

    /** Returns the name of the claims' table, as it is configured. */
    public String tableName() {
        return table.name();
    }

    /** Returns the schema and the name of the claims' table. */
    public String qualifiedTable() {
        return schema() + "." + table.relation();
    }

    /** Returns the OID of the claims' table. */
    public long table() {
        return claims.ask(table.sql(TABLE), Long.class);
    }

    /** Returns the schema of the claims' table. */
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
