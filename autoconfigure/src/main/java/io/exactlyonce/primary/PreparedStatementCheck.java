package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;

/**
 * Finds poolers that give each transaction another session and know nothing of prepared statements: PgBouncer in
 * transaction mode, up to 1.20. The driver numbers the statements of each connection anew, and so two connections that share
 * a session give it different statements by one name.
 *
 * <p>Found before a claim fails, or a statement by chance means another one. A pooler that gave each of these connections a
 * session of its own is not.
 */
final class PreparedStatementCheck {

    private static final String DUPLICATE_PREPARED_STATEMENT = "42P05";
    private static final String INVALID_SQL_STATEMENT_NAME = "26000";

    /** What a server answers to one that it has under another meaning, and to one that it has not. */
    private static final Set<String> MIXED_UP = Set.of(DUPLICATE_PREPARED_STATEMENT, INVALID_SQL_STATEMENT_NAME);

    /** From the fifth run on the driver gives a statement a name, by its default of {@code prepareThreshold}. */
    private static final int RUNS = 6;

    private PreparedStatementCheck() {}

    /** Leaves named statements behind where the driver makes them: several connections have to do it. */
    static void run(Connection connection) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
            for (int run = 0; run < RUNS; run++) {
                statement.executeQuery().close();
            }
            connection.commit();
        }
        connection.setAutoCommit(autoCommit);
    }

    static boolean isMixUp(SQLException failure) {
        return failure.getSQLState() != null && MIXED_UP.contains(failure.getSQLState());
    }
}
