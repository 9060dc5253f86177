package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;

/** Finds drivers and poolers that do not run statements as claims need it, before a claim fails or means something else. */
final class StatementCheck {

    private static final String DUPLICATE_PREPARED_STATEMENT = "42P05";
    private static final String INVALID_SQL_STATEMENT_NAME = "26000";

    /** What a server answers to one that it has under another meaning, and to one that it has not. */
    private static final Set<String> MIXED_UP = Set.of(DUPLICATE_PREPARED_STATEMENT, INVALID_SQL_STATEMENT_NAME);

    /** From the fifth run on the driver gives a statement a name, by its default of {@code prepareThreshold}. */
    private static final int RUNS = 6;

    /** As each statement of claims has what its commit waits for, and how long it waits for locks, in front of it. */
    private static final String SETTING_AND_STATEMENT = """
            SELECT set_config('exactly_once.probe', 'kept', true);
            SELECT current_setting('exactly_once.probe', true)""";

    private StatementCheck() {}

    /**
     * Makes the server tell poolers that give each transaction another session and know nothing of prepared statements:
     * PgBouncer in transaction mode, up to 1.20. The driver numbers the statements of each connection anew, and so two
     * connections that share a session give it different statements by one name. A pooler that gave each of these
     * connections a session of its own is not found.
     *
     * <p>Leaves named statements behind where the driver makes them: several connections have to do it.
     *
     * @throws SQLException for which {@link #isMixUp} is true, of such a pooler
     */
    static void prepareOften(Connection connection) throws SQLException {
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

    /**
     * Returns whether a setting in front of a statement holds for it. It does not where each of the two becomes a transaction
     * of its own: a driver with {@code preferQueryMode=simple} sends them apart.
     *
     * <p>A connection that fails is left as it is, as in {@link RoutingCheck}: setting it back would fail as well, and hide why.
     */
    static boolean isSettingKept(Connection connection) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        connection.setAutoCommit(true);
        boolean kept;
        try (PreparedStatement statement = connection.prepareStatement(SETTING_AND_STATEMENT)) {
            statement.execute();
            statement.getMoreResults();
            try (ResultSet answer = statement.getResultSet()) {
                kept = answer.next() && "kept".equals(answer.getString(1));
            }
        }
        connection.setAutoCommit(autoCommit);
        return kept;
    }
}
