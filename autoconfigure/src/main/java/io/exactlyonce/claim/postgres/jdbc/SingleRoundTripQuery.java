package io.exactlyonce.claim.postgres.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementSetter;
import org.springframework.jdbc.core.RowCallbackHandler;

/**
 * Runs a statement after {@link StatementSettings}, both in one round trip: in autocommit there is no COMMIT to wait for.
 * The caller has no transaction open.
 */
public final class SingleRoundTripQuery {

    private final JdbcTemplate jdbc;
    private final String sql;

    /** @param settings one of {@link StatementSettings} */
    public SingleRoundTripQuery(JdbcTemplate jdbc, String settings, String statement) {
        this.jdbc = jdbc;
        this.sql = settings + statement;
    }

    public void query(PreparedStatementSetter parameters, RowCallbackHandler rows) {
        jdbc.execute(sql, (PreparedStatement statement) -> {
            parameters.setValues(statement);
            committing(statement, rows);
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
