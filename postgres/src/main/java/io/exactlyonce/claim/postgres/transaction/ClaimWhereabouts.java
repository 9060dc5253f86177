package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Proves for each transaction that it uses the database and the table in which claims are kept. Startup proves one
 * transaction. A later transaction may belong to another tenant, with another database or role. The search path does
 * not matter, because statements name the table's schema.
 *
 * <p>A database is proved once per JDBC URL. The table is proved by its OID, which is unique in a database.
 */
final class ClaimWhereabouts {

    /**
     * Selects the OID of the table by name and schema; 0 if the transaction's database has no such table. Also selects
     * whether row-level security may hide rows, because a hidden row would look like a free key.
     */
    static final String TABLE = """
            coalesce(pg_catalog.to_regclass('{table}')::pg_catalog.oid::bigint, 0) AS claim_table,
            coalesce(pg_catalog.row_security_active(pg_catalog.to_regclass('{table}')), false) AS hides_rows""";

    private final SameDatabase database;
    private final Set<String> proved = ConcurrentHashMap.newKeySet();
    private volatile long table;

    /**
     * @param database checks whether a transaction uses the claim database
     * @param seen a transaction that was proved at startup; later transactions with the same URL do not need the
     *     claims' pool, which may be unavailable
     */
    ClaimWhereabouts(SameDatabase database, ApplicationTransactions.Seen seen) {
        this.database = database;
        this.table = seen.table();
        if (seen.url() != null) {
            proved.add(seen.url());
        }
    }

    /** Requires that the transaction uses the claim database. */
    void requireDatabase(Connection connection, JdbcTemplate transaction, Object description) throws SQLException {
        String url = connection.getMetaData().getURL();
        if (url != null && proved.contains(url)) {
            return;
        }
        if (!database.isSame(transaction)) {
            throw new ClaimTransactionException(
                    ("%s is of %s, but claims are kept in %s; let handlers' transactions use that database, or set effects ="
                                    + " EXTERNAL")
                            .formatted(description, SameDatabase.describe(transaction), database.describeClaims()),
                    null);
        }
        if (url != null) {
            proved.add(url);
        }
    }

    /**
     * Requires that the transaction sees the claim table.
     *
     * @param found the table's OID, as the transaction sees it
     * @param hidesRows whether row-level security may hide rows from the transaction
     */
    void requireTable(long found, boolean hidesRows, Object description) {
        if (hidesRows) {
            throw new ClaimTransactionException(
                    ("%s sees table %s through row-level security, which could hide completed keys; ALTER TABLE %s DISABLE ROW"
                                    + " LEVEL SECURITY, or give its role BYPASSRLS")
                            .formatted(description, database.tableName(), database.tableName()),
                    null);
        }
        if (found == table) {
            return;
        }
        long current = database.table();
        if (found != current) {
            throw elsewhere(description, found == 0 ? "finds no table %s" : "finds another table %s", null);
        }
        // The table was created anew.
        table = current;
    }

    /** Returns the exception for a transaction whose database does not have the claim table. */
    ClaimTransactionException elsewhere(Object description, String how, @Nullable Exception cause) {
        return new ClaimTransactionException(
                ("%s %s, although claims are kept in %s; let the transactions of handlers use the"
                                + " server and database of the claims")
                        .formatted(description, how.formatted(database.qualifiedTable()), database.describeClaims()),
                cause);
    }
}
