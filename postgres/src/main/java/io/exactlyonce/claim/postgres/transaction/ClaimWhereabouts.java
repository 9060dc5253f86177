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
 * Checks that each application transaction uses the database and the table in which claims are kept. The check at
 * startup saw only one transaction. Another transaction may belong to another tenant, and may use another database or
 * role.
 *
 * <p>A database is checked only one time for each JDBC URL. The table is recognized by its OID, which is unique in a
 * database.
 */
final class ClaimWhereabouts {

    /**
     * Selects the OID of the claim table, or 0 if the transaction's database has no such table. Also selects whether
     * row-level security may hide rows. A key whose row is hidden would appear to be free.
     */
    static final String TABLE = """
            coalesce(pg_catalog.to_regclass('{table}')::pg_catalog.oid::bigint, 0) AS claim_table,
            coalesce(pg_catalog.row_security_active(pg_catalog.to_regclass('{table}')), false) AS hides_rows""";

    private final SameDatabase database;
    private final Set<String> proved = ConcurrentHashMap.newKeySet();
    private volatile long table;

    /** @param seen the transaction that was checked at startup; its JDBC URL is not checked again */
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
     * Requires that the transaction sees the claim table and all of its rows.
     *
     * @param found the OID of the table that the transaction sees; 0 if it sees none
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
        // This transaction and the claims' own connections agree on a table that is new. So the claim table was
        // replaced since the last call.
        table = current;
    }

    ClaimTransactionException elsewhere(Object description, String how, @Nullable Exception cause) {
        return new ClaimTransactionException(
                ("%s %s, although claims are kept in %s; let the transactions of handlers use the"
                                + " server and database of the claims")
                        .formatted(description, how.formatted(database.qualifiedTable()), database.describeClaims()),
                cause);
    }
}
