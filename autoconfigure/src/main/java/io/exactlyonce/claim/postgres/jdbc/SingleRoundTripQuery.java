package io.exactlyonce.claim.postgres.jdbc;

import io.exactlyonce.primary.ConnectionFailure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementSetter;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.transaction.CannotCreateTransactionException;

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
     * A statement that is a transaction by itself, on a connection of its own in autocommit, whatever its caller has open.
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
        if (!isTransaction) {
            jdbc.execute(sql, (PreparedStatement statement) -> {
                parameters.setValues(statement);
                read(statement, rows);
                return true;
            });
            return;
        }
        try (Connection connection = connection()) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                parameters.setValues(statement);
                read(statement, rows);
            } catch (SQLException failure) {
                ConnectionFailure.discard(Objects.requireNonNull(jdbc.getDataSource()), connection, failure);
                throw failure;
            }
        } catch (SQLException failure) {
            DataAccessException translated = jdbc.getExceptionTranslator().translate("Claims", sql, failure);
            throw translated == null ? new UncategorizedSQLException("Claims", sql, failure) : translated;
        }
    }

    /** Not by Spring's utilities: within a transaction of the caller's they would keep it to that one's end. */
    private Connection connection() {
        try {
            return Objects.requireNonNull(jdbc.getDataSource()).getConnection();
        } catch (SQLException refused) {
            throw new CannotCreateTransactionException("No connection for claims", refused);
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
