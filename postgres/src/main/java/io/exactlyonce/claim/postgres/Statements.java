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
 * Runs SQL for claims. Each piece of work has its own connection in autocommit, even if the caller has a transaction.
 *
 * <p>Work may run more than once, so it must be repeatable. It is repeated in two cases:
 * <ul>
 *   <li>PostgreSQL rolled it back because of another transaction (for example after a deadlock). Nothing was changed.
 *   <li>The connection broke, or its server does not accept writes any more. The second try uses a new connection,
 *       which reaches the primary. If the first try was committed nevertheless, the second try finds its writes. There
 *       is no third try.
 * </ul>
 *
 * <p>Work is not repeated after a timeout of the driver, because too much time has already passed. The caller decides
 * how long to retry.
 */
public final class Statements {

    /**
     * Settings that are sent in front of a statement, in the same round trip. They return one row, before the
     * statement's own result.
     *
     * <p>The first setting forbids sequential scans. While the table is small, PostgreSQL would choose such a scan, and
     * would keep this plan after the table has grown. The second setting says whether a commit waits for the disk and
     * for replicas.
     *
     * <p>The settings end with the statement's transaction. So they work behind a pooler, which may run each
     * transaction in another session.
     */
    static final String SETTINGS = "SELECT pg_catalog.set_config('enable_seqscan', 'off', true),"
            + " pg_catalog.set_config('synchronous_commit', '%s', true);\n";

    /**
     * Forbids sequential scans for the rest of the transaction, and saves the old setting as
     * {@code exactly_once.enable_seqscan}. {@code WHERE} saves it before {@code SELECT} changes it.
     */
    public static final String ONLY_BY_INDEX = """
            SELECT pg_catalog.set_config('enable_seqscan', 'off', true)
            WHERE pg_catalog.set_config('exactly_once.enable_seqscan', pg_catalog.current_setting('enable_seqscan'), true)
                  IS NOT NULL""";

    /**
     * Restores the setting that {@link #ONLY_BY_INDEX} saved. Both statements must run in the same transaction of the
     * same server. If a proxy sends them to two servers, this statement may fail.
     */
    public static final String AS_BEFORE = """
            SELECT pg_catalog.set_config(
                'enable_seqscan', pg_catalog.current_setting('exactly_once.enable_seqscan', true), true)""";

    /**
     * SQLSTATEs of a serialization failure and of a deadlock: another transaction made PostgreSQL roll this one back.
     */
    private static final Set<String> ROLLED_BACK = Set.of("40001", "40P01");

    private static final int MAX_TRIES_ROLLED_BACK = 5;
    private static final int MAX_TRIES_STALE = 2;

    private final DataSource dataSource;
    private final Preparation preparation;

    interface Binder {
        void bind(Parameters parameters) throws SQLException;
    }

    /** Prepares a connection before its first statement. */
    interface Preparation {
        void of(Connection connection) throws SQLException;
    }

    Statements(DataSource dataSource, Preparation preparation) {
        this.dataSource = dataSource;
        this.preparation = preparation;
    }

    /**
     * @throws ClaimStoreUnavailableException if there is no connection, or if PostgreSQL rejects a statement
     * @throws IllegalArgumentException if PostgreSQL can never store one of the values
     */
    <T> T run(ConnectionCallback<T> work) {
        return run(work, MAX_TRIES_STALE);
    }

    /**
     * @param triesStale how often the work is tried if connections break; 1 for work that cannot recognize its own
     *     earlier writes
     */
    <T> T run(ConnectionCallback<T> work, int triesStale) {
        for (int attempt = 1; ; attempt++) {
            try (Connection connection = connect()) {
                try {
                    preparation.of(connection);
                    return work.doInConnection(connection);
                } catch (SQLException failure) {
                    // Unlike the library's own pool, an application's connection pool does not discard a broken
                    // connection by itself, and would give it to the next caller.
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

    /** Returns the value of a query with one row and one column. The value must not be null. */
    public <T> T ask(String sql, Class<T> type, Object... parameters) {
        return query(SETTINGS.formatted("on") + sql, SingleColumnRowMapper.newInstance(type), parameters)
                .get(0);
    }

    /** Opens a connection. A failure is not retried, because the pool has already tried until its timeout. */
    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException refused) {
            throw new ClaimStoreUnavailableException("No connection for claims: " + refused.getMessage(), refused);
        }
    }

    /** @param sql the query, with settings in front */
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
     * Returns whether a failed statement may have committed nevertheless: the connection broke, no reply arrived in
     * time, or the server ended the session.
     */
    public static boolean isConnectionLost(Exception failure) {
        String state = ClaimPool.sqlState(failure);
        return state.startsWith("08") || state.startsWith("57P");
    }

    /**
     * Returns whether PostgreSQL can never store one of the statement's values. SQLSTATE class 22 means that a column's
     * type rejects the value. Class 54 means that an index entry is too large.
     */
    public static boolean isUnstorable(Exception failure) {
        String state = ClaimPool.sqlState(failure);
        return state.startsWith("22") || state.startsWith("54");
    }

    public static IllegalArgumentException unstorable(Exception failure) {
        return new IllegalArgumentException(
                "PostgreSQL cannot store one of these keys or results: scope and key have more than 2700 bytes together in"
                        + " UTF-8, or one of them has a NUL character; shorten the scope",
                failure);
    }

    /**
     * Surrounds a statement with two others, for use in an application transaction. The first one forbids sequential
     * scans, and returns one row. The last one restores the old setting for the application's own statements.
     *
     * @param statement must join claim rows by {@code LATERAL} with {@code LIMIT 1}, or by {@link ClaimTable#AT_PLACE}
     */
    public static String within(String statement) {
        return ONLY_BY_INDEX + ";\n" + statement + ";\n" + AS_BEFORE;
    }

    /** Runs a statement, and skips the result of the settings in front of it. */
    static ResultSet answer(PreparedStatement statement) throws SQLException {
        statement.execute();
        statement.getMoreResults();
        return statement.getResultSet();
    }

    /**
     * Writes entries, and returns the ids of {@code RETURNING}. Does nothing if there are no entries.
     *
     * @param sql the statement, with settings in front
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
