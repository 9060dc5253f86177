package io.exactlyonce.claim.postgres;

import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.primary.ClaimPool;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.SingleColumnRowMapper;

/**
 * Runs the statements of claims. Each statement uses its own connection in autocommit, even if the caller has a
 * transaction.
 *
 * <p>The whole work is repeated if PostgreSQL rolled it back because of another transaction. The work is also repeated
 * once if its connection broke or its server no longer accepts writes: the pool has then discarded such connections,
 * and a new connection reaches the primary. Work must therefore be repeatable. Work that was rolled back did nothing.
 * Work whose connection broke during the commit may have taken effect, and then finds its own writes when it is
 * repeated.
 *
 * <p>Work is not repeated after a timeout: the socket timeout has passed, a renewal that hangs may lose its lease, and
 * the caller decides how long to retry.
 */
public final class Statements {

    /**
     * Precedes a statement in the same round trip. Returns one row. Forbids sequential scans, because a scan that
     * looked cheap on a young table would remain the plan after the table has grown. Also sets what the commit waits
     * for. Both statements are one implicit transaction, so the settings apply to them only, also behind a pooler that
     * may run each transaction in another session.
     */
    static final String SETTINGS = "SELECT pg_catalog.set_config('enable_seqscan', 'off', true),"
            + " pg_catalog.set_config('synchronous_commit', '%s', true);\n";

    /**
     * Forbids sequential scans and keeps the old setting, which {@code WHERE} reads before {@code SELECT} changes it.
     */
    public static final String ONLY_BY_INDEX = """
            SELECT pg_catalog.set_config('enable_seqscan', 'off', true)
            WHERE pg_catalog.set_config('exactly_once.enable_seqscan', pg_catalog.current_setting('enable_seqscan'), true)
                  IS NOT NULL""";

    /**
     * Restores the old setting. If a proxy sent the first statement to another server, no old setting was kept: the
     * session's own value is set, but in a session with an earlier such statement this one fails, because PostgreSQL
     * keeps the name with an empty value.
     */
    public static final String AS_BEFORE = """
            SELECT pg_catalog.set_config(
                'enable_seqscan', pg_catalog.current_setting('exactly_once.enable_seqscan', true), true)""";

    /** SQLSTATEs of transactions that lost a conflict: a serialization failure, a deadlock. */
    private static final Set<String> ROLLED_BACK = Set.of("40001", "40P01");

    private static final int MAX_TRIES_ROLLED_BACK = 5;
    private static final int MAX_TRIES_STALE = 2;

    private final DataSource dataSource;
    private final Preparation preparation;

    interface Binder {
        void bind(Parameters parameters) throws SQLException;
    }

    /** Prepares a connection for its statements. */
    interface Preparation {
        void of(Connection connection) throws SQLException;
    }

    Statements(DataSource dataSource, Preparation preparation) {
        this.dataSource = dataSource;
        this.preparation = preparation;
    }

    /**
     * @throws ClaimStoreUnavailableException if there was no answer
     * @throws IllegalArgumentException if PostgreSQL can never store a value
     */
    <T> T run(ConnectionCallback<T> work) {
        return run(work, MAX_TRIES_STALE);
    }

    /** @param triesStale the number of tries if connections break; 1 if the work cannot recognize its own writes */
    <T> T run(ConnectionCallback<T> work, int triesStale) {
        for (int attempt = 1; ; attempt++) {
            try (Connection connection = connect()) {
                try {
                    preparation.of(connection);
                    return work.doInConnection(connection);
                } catch (SQLException failure) {
                    // A pool without primary checks would hand the broken connection out again.
                    ClaimPool.discard(dataSource, connection, failure);
                    throw failure;
                }
            } catch (SQLException failure) {
                boolean rolledBack = ROLLED_BACK.contains(ClaimPool.sqlState(failure));
                int tries = rolledBack ? MAX_TRIES_ROLLED_BACK : ClaimPool.isStale(failure) ? triesStale : 1;
                if (attempt >= tries) {
                    throw isUnstorable(failure)
                            ? unstorable(failure)
                            : new ClaimStoreUnavailableException(
                                    "PostgreSQL rejected a statement for claims: " + PrintableException.reason(failure),
                                    failure);
                }
            }
        }
    }

    /** Queries one value, which is not null. */
    public <T> T ask(String sql, Class<T> type, Object... parameters) {
        return query(SETTINGS.formatted("on") + sql, SingleColumnRowMapper.newInstance(type), parameters)
                .get(0);
    }

    /** Connects. A failure here is not repeated, because the pool has already tried until its timeout. */
    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException refused) {
            throw new ClaimStoreUnavailableException("No connection for claims: " + refused.getMessage(), refused);
        }
    }

    /** Reads the rows of a statement that follows settings. */
    <T> List<T> query(String sql, RowMapper<T> mapper, Object... parameters) {
        return run(connection -> {
            List<T> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                new Parameters(statement).values(parameters);
                ResultSet row = answer(statement);
                while (row.next()) {
                    found.add(mapper.mapRow(row, row.getRow()));
                }
            }
            return found;
        });
    }

    /**
     * Returns whether a failed statement may still be committed: its connection was lost, or no reply arrived in time.
     */
    public static boolean isConnectionLost(Exception failure) {
        String state = ClaimPool.sqlState(failure);
        return state.startsWith("08") || state.startsWith("57P");
    }

    /**
     * Returns whether PostgreSQL can never store a value. Class 22 is a value that the column's type rejects. Class 54
     * is an index entry that is too large.
     */
    public static boolean isUnstorable(Exception failure) {
        String state = ClaimPool.sqlState(failure);
        return state.startsWith("22") || state.startsWith("54");
    }

    /** Returns the exception for a value that PostgreSQL can never store. */
    public static IllegalArgumentException unstorable(Exception failure) {
        return new IllegalArgumentException(
                "PostgreSQL cannot store one of these keys or results: scope and key have more than 2700 bytes together in"
                        + " UTF-8, or one of them has a NUL character; shorten the scope",
                failure);
    }

    /**
     * Returns a statement for an application transaction. A statement before it forbids sequential scans and returns
     * one row. A statement after it restores the setting, so that the application's own statements are planned as
     * before. The given statement may join claim rows only through {@code LATERAL} with {@code LIMIT 1}, or by
     * {@link ClaimTable#AT_PLACE}.
     */
    public static String within(String statement) {
        return ONLY_BY_INDEX + ";\n" + statement + ";\n" + AS_BEFORE;
    }

    /** Runs a statement that follows settings, and returns the result of the statement itself. */
    static ResultSet answer(PreparedStatement statement) throws SQLException {
        statement.execute();
        statement.getMoreResults();
        return statement.getResultSet();
    }

    /**
     * Writes entries, and returns the ids that the statement returns. Does nothing without entries.
     *
     * @param sql the settings, and the statement after them
     */
    static Set<UUID> write(Connection connection, String sql, List<?> entries, Binder binder) throws SQLException {
        if (entries.isEmpty()) {
            return Set.of();
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            binder.bind(new Parameters(statement));
            return ids(answer(statement));
        }
    }

    static Set<UUID> ids(ResultSet answer) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (answer.next()) {
            ids.add(answer.getObject(1, UUID.class));
        }
        return ids;
    }

    /** Returns a duration in microseconds, PostgreSQL's resolution. */
    public static long micros(Duration length) {
        return TimeUnit.MICROSECONDS.convert(length);
    }
}
