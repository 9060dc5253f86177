package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.SynchronousCommit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs the statements of claims, each on a connection of its own in autocommit, whatever its caller has open.
 *
 * <p>Work is repeated as a whole when PostgreSQL rolled it back for the sake of another transaction, and once when its
 * connection broke or its server turned out to take no writes any more: the pool has thrown such connections out by then, and
 * a new one leads to the primary. So it must be repeatable, as the store's calls are. What was rolled back has done nothing; what
 * broke in its commit may have happened, and finds its own writes.
 *
 * <p>Nothing is repeated for a reply that did not come in time. The socket's timeout is spent by then, a renewal that hangs
 * has a lease to lose, and its caller knows how long it may still try.
 */
public final class Statements {

    /**
     * Goes in front of a statement in the same round trip, which is one implicit transaction: so it holds for these two
     * only, also behind a pooler that gives each transaction another session. Without it, a scan that looked cheap on a young table
     * would stay when the table has grown.
     */
    private static final String SETTINGS =
            "SELECT set_config('enable_seqscan', 'off', true), set_config('synchronous_commit', '%s', true);\n";

    /** Keeps what was set, which {@code WHERE} does before {@code SELECT} sets it. */
    public static final String ONLY_BY_INDEX = """
            SELECT set_config('enable_seqscan', 'off', true)
            WHERE set_config('exactly_once.enable_seqscan', current_setting('enable_seqscan'), true) IS NOT NULL""";

    /** Where a proxy has sent the first one to another server, nothing was kept, and what the session began with is set. */
    public static final String AS_BEFORE = """
            SELECT set_config('enable_seqscan', current_setting('exactly_once.enable_seqscan', true), true)""";

    /** Another transaction was preferred: a serialization failure, a deadlock. */
    private static final Set<String> ROLLED_BACK = Set.of("40001", "40P01");

    private static final int MAX_TRIES_ROLLED_BACK = 5;
    private static final int MAX_TRIES_STALE = 2;

    private final DataSource dataSource;

    /** What is done with one connection. */
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    public Statements(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /**
     * @throws ClaimStoreUnavailableException if there was no answer
     * @throws IllegalArgumentException if PostgreSQL can never store what was to be written
     */
    <T> T run(Work<T> work) {
        for (int attempt = 1; ; attempt++) {
            try (Connection connection = connect()) {
                return on(connection, work);
            } catch (SQLException failure) {
                if (attempt >= maxTries(failure)) {
                    throw told(failure);
                }
            }
        }
    }

    /** Asks for one value, which is not null. */
    public <T> T ask(String sql, Class<T> type, Object... parameters) {
        return run(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                for (int i = 0; i < parameters.length; i++) {
                    statement.setObject(i + 1, parameters[i]);
                }
                try (ResultSet answer = statement.executeQuery()) {
                    answer.next();
                    return answer.getObject(1, type);
                }
            }
        });
    }

    /** What fails here is not repeated: the pool has tried for as long as it may. */
    private Connection connect() {
        try {
            return dataSource.getConnection();
        } catch (SQLException refused) {
            throw new ClaimStoreUnavailableException("No connection for claims: " + refused.getMessage(), refused);
        }
    }

    private <T> T on(Connection connection, Work<T> work) throws SQLException {
        try {
            return work.on(connection);
        } catch (SQLException failure) {
            // A pool that does not know of primaries would hand it out again.
            ClaimPool.discard(dataSource, connection, failure);
            throw failure;
        }
    }

    private static int maxTries(SQLException failure) {
        String state = sqlState(failure);
        if (ROLLED_BACK.contains(state)) {
            return MAX_TRIES_ROLLED_BACK;
        }
        return ClaimPool.isStale(failure) ? MAX_TRIES_STALE : 1;
    }

    /** Returns whether a statement may have been committed, though it has failed: its connection was lost, or it had no reply in time. */
    public static boolean isConnectionLost(Exception failure) {
        String state = sqlState(failure);
        return state.startsWith("08") || state.startsWith("57P");
    }

    private static RuntimeException told(SQLException failure) {
        return isUnstorable(failure)
                ? unstorable(failure)
                : new ClaimStoreUnavailableException(
                        "PostgreSQL did not do what was asked for claims: " + failure.getMessage(), failure);
    }

    /** Class 22: a value that the column's type does not take. Class 54: as an entry of an index that is too large. */
    public static boolean isUnstorable(Exception failure) {
        String state = sqlState(failure);
        return state.startsWith("22") || state.startsWith("54");
    }

    /** Returns what tells that PostgreSQL can never store what was to be written. */
    public static IllegalArgumentException unstorable(Exception failure) {
        return new IllegalArgumentException(
                "PostgreSQL cannot store one of these keys or results: scope and key have more than 2700 bytes together in"
                        + " UTF-8, or one of them has a NUL character; shorten the scope",
                failure);
    }

    /** Returns the outermost SQLSTATE of a failure and its causes, which tells what has failed; empty if there is none. */
    public static String sqlState(Throwable failure) {
        return ClaimPool.sqlState(failure);
    }

    /** Returns what goes in front of a statement that finds rows by their keys, and has one row as its answer. */
    static String settings(SynchronousCommit synchronousCommit) {
        return SETTINGS.formatted(synchronousCommit.setting());
    }

    /**
     * Returns a statement within a transaction of the application's own, with what it needs set in front of it, which has one row as
     * its answer, and taken back behind it: the application's statements are planned as ever. It may join rows of claims to nothing
     * but in a {@code LATERAL} with {@code OFFSET 0}, and by {@code ctid}.
     */
    public static String within(String statement) {
        return ONLY_BY_INDEX + ";\n" + statement + ";\n" + AS_BEFORE;
    }

    /** Runs a statement that has settings in front of it, and returns its own answer. */
    static ResultSet answer(PreparedStatement statement) throws SQLException {
        statement.execute();
        statement.getMoreResults();
        return statement.getResultSet();
    }

    /** Reads the ids that a statement behind settings returns. */
    static Set<UUID> ids(PreparedStatement statement) throws SQLException {
        try (ResultSet answer = answer(statement)) {
            return ids(answer);
        }
    }

    static Set<UUID> ids(ResultSet answer) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (answer.next()) {
            ids.add(answer.getObject(1, UUID.class));
        }
        return ids;
    }

    /** Binds one property of all entries as an array. Its own type lets the driver send it in binary, here and below. */
    public static <E> void texts(
            PreparedStatement statement, int index, List<E> entries, Function<? super E, @Nullable String> property)
            throws SQLException {
        bind(statement, index, "text", fill(new String[entries.size()], entries, property));
    }

    static <E> void uuids(PreparedStatement statement, int index, List<E> entries, Function<? super E, ?> property)
            throws SQLException {
        bind(statement, index, "uuid", fill(new Object[entries.size()], entries, property));
    }

    public static <E> void longs(
            PreparedStatement statement, int index, List<E> entries, Function<? super E, Long> property)
            throws SQLException {
        bind(statement, index, "int8", fill(new Long[entries.size()], entries, property));
    }

    static <E> void booleans(
            PreparedStatement statement, int index, List<E> entries, Function<? super E, Boolean> property)
            throws SQLException {
        bind(statement, index, "bool", fill(new Boolean[entries.size()], entries, property));
    }

    private static <E, V extends @Nullable Object> V[] fill(
            V[] values, List<E> entries, Function<? super E, ? extends V> property) {
        for (int i = 0; i < values.length; i++) {
            values[i] = property.apply(entries.get(i));
        }
        return values;
    }

    private static void bind(PreparedStatement statement, int index, String type, @Nullable Object[] values)
            throws SQLException {
        statement.setArray(index, statement.getConnection().createArrayOf(type, values));
    }

    /** Returns a length as the table's statements take it: in microseconds, as PostgreSQL counts. */
    public static long micros(Duration length) {
        return TimeUnit.MICROSECONDS.convert(length);
    }
}
