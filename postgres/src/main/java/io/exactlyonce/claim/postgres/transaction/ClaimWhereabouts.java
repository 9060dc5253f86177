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
 * Proves for each transaction that it meets the database and the table in which claims are kept. Startup proves one
 * transaction; a later one may be another tenant's, with another database, search_path or role.
 *
 * <p>A database is proved once for each JDBC URL, and the table by its OID, which is unique in a database.
 */
final class ClaimWhereabouts {

    /** The table that a transaction would use; 0 if it finds none. With row-level security, a row that is hidden would look like a free key. */
    static final String TABLE = "coalesce(to_regclass('{table}')::oid::bigint, 0) AS claim_table,"
            + " coalesce(row_security_active(to_regclass('{table}')), false) AS hides_rows";

    private final SameDatabase database;
    private final Set<String> proved = ConcurrentHashMap.newKeySet();
    private volatile long table;

    /**
     * @param database reaches the claims
     * @param seen a transaction that was proved at startup: no later one like it asks the claims' pool, which may be away
     */
    ClaimWhereabouts(SameDatabase database, ApplicationTransactions.Seen seen) {
        this.database = database;
        this.table = seen.table();
        if (seen.url() != null) {
            proved.add(seen.url());
        }
    }

    /** Requires the claims' database. */
    void requireDatabase(Connection connection, JdbcTemplate transaction, Object description) throws SQLException {
        String url = connection.getMetaData().getURL();
        if (url != null && proved.contains(url)) {
            return;
        }
        if (!database.isSame(transaction)) {
            throw new ClaimTransactionException(
                    ("%s is of %s, but claims are kept in %s; let the transactions of handlers lead there, or set effects ="
                                    + " EXTERNAL")
                            .formatted(description, SameDatabase.describe(transaction), database.describeClaims()),
                    null);
        }
        if (url != null) {
            proved.add(url);
        }
    }

    /**
     * Requires the claims' table.
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
            throw hidden(
                    description, found == 0 ? "hides table %s" : "leads to another table %s than the claims'", null);
        }
        // The table was created anew.
        table = current;
    }

    /** Returns the exception for a search_path with which a transaction does not find the claims' table. */
    ClaimTransactionException hidden(Object description, String how, @Nullable Exception cause) {
        String schema = database.schema();
        return new ClaimTransactionException(
                ("%s has a search_path that %s; add the table's schema wherever the search_path is set, for example SET"
                                + " search_path TO tenant, %s")
                        .formatted(description, how.formatted(database.tableName()), schema),
                cause);
    }
}
