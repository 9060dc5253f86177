package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
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
public final class SameDatabase {

    /** The search path, and maybe the user, decide which table the name means. */
    private static final String TABLE = "SELECT coalesce(to_regclass('{table}')::oid::bigint, 0)";

    private static final String SCHEMA =
            "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('{table}')";

    private static final String DESCRIBE = """
            SELECT format('database %s on %s (user %s, search_path %s)', current_database(),
                          coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket'),
                          current_user, current_setting('search_path'))
            """;

    /** In autocommit: otherwise the caller's transaction would keep a connection of the claims' pool to its end. */
    private final Statements claims;

    private final String tableName;
    private final String tableNumber;
    private final String tableSchema;

    /** @param table where the claims are kept */
    public SameDatabase(ClaimTable table) {
        this.claims = table.statements();
        this.tableName = table.name();
        this.tableNumber = table.sql(TABLE);
        this.tableSchema = table.sql(SCHEMA);
    }

    /**
     * Returns the key's part of the number of the advisory lock that a transaction takes on a key whose row no other
     * transaction can see until it commits; the table's number is the other part. If two keys share a lock, that costs a
     * wait, never correctness, because the key's row decides.
     *
     * @return the first 8 bytes of the SHA-256 of scope and key: the same for all versions that may run side by side
     */
    public static long number(ClaimKey key) {
        return HexFormat.fromHexDigitsToLong(key.hash(), 0, 2 * Long.BYTES);
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
        String lock = "SELECT pg_try_advisory_xact_lock(?)";
        return Boolean.TRUE.equals(transaction.queryForObject(lock, Boolean.class, number))
                && !claims.ask(lock, Boolean.class, number);
    }

    /** Returns whether the claim table's name means the same table in both. */
    public boolean isSameTable(JdbcTemplate transaction) {
        return Objects.equals(table(), transaction.queryForObject(tableNumber, Long.class));
    }

    /** Returns the name of the claims' table, as it is configured. */
    public String tableName() {
        return tableName;
    }

    /** Returns the schema and the name of the claims' table. */
    public String qualifiedTable() {
        return schema() + "." + tableName.substring(tableName.indexOf('.') + 1);
    }

    /** Returns the OID of the claims' table. */
    public long table() {
        return claims.ask(tableNumber, Long.class);
    }

    /** Returns the schema of the claims' table. */
    public String schema() {
        return claims.ask(tableSchema, String.class);
    }

    public String describeClaims() {
        return claims.ask(DESCRIBE, String.class);
    }

    /** Describes database, server, user and search path. */
    public static String describe(JdbcTemplate jdbc) {
        return String.valueOf(jdbc.queryForObject(DESCRIBE, String.class));
    }
}
