package io.exactlyonce.claim.postgres.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementSetter;
import org.springframework.jdbc.core.RowCallbackHandler;

/**
 * Runs a statement after {@link StatementSettings}, all in one round trip. One that is a transaction by itself runs in autocommit,
 * where there is no COMMIT to wait for.
 */
public final class SingleRoundTripQuery {

    private final JdbcTemplate jdbc;
    private final String sql;
    private final boolean isTransaction;

    private SingleRoundTripQuery(JdbcTemplate jdbc, String sql, boolean isTransaction) {
        this.jdbc = jdbc;
        this.sql = sql;
        this.isTransaction = isTransaction;
    }

    /**
     * A statement that is a transaction by itself: its callers have none open.
     *
     * @param settings one of {@link StatementSettings}
     */
    public static SingleRoundTripQuery transaction(JdbcTemplate jdbc, String settings, String statement) {
        return new SingleRoundTripQuery(jdbc, settings + statement, true);
    }

    /** A statement that finds rows by their keys, within a transaction of its callers', whose own statements are planned as ever. */
    public static SingleRoundTripQuery within(JdbcTemplate jdbc, String statement) {
        return new SingleRoundTripQuery(jdbc, StatementSettings.within(statement), false);
    }

    public void query(PreparedStatementSetter parameters, RowCallbackHandler rows) {
        jdbc.execute(sql, (PreparedStatement statement) -> {
            parameters.setValues(statement);
            if (isTransaction) {
                committing(statement, rows);
            } else {
                read(statement, rows);
            }
            return true;
        });
    }

    private static void committing(PreparedStatement statement, RowCallbackHandler rows) throws SQLException {
        Connection connection = statement.getConnection();
        if (connection.getAutoCommit()) {
            read(statement, rows);
            return;
        }
        connection.setAutoCommit(true);
        try {
            read(statement, rows);
        } finally {
            connection.setAutoCommit(false);
        }
    }

    private static void read(PreparedStatement statement, RowCallbackHandler rows) throws SQLException {
        statement.execute();
        statement.getMoreResults();
        try (ResultSet answer = statement.getResultSet()) {
            while (answer.next()) {
                rows.processRow(answer);
            }
        }
    }
}
