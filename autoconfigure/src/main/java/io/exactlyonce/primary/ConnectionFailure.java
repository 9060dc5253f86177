package io.exactlyonce.primary;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Failures after which a fresh connection is likely to work at once, by SQLSTATE. */
public final class ConnectionFailure {

    private static final String CONNECTION_EXCEPTION_CLASS = "08";

    /** The server ends the session (57P01 to 57P03), or takes no writes any more. */
    private static final Set<String> SERVER_GONE =
            Set.of("57P01", "57P02", "57P03", NotPrimaryException.READ_ONLY_SQL_TRANSACTION);

    /**
     * Classes of SQLSTATEs: connection, authorization, catalog name, resources, operator's intervention, system error, and the
     * driver's own for a URL that it cannot parse.
     */
    private static final Set<String> REFUSALS = Set.of(CONNECTION_EXCEPTION_CLASS, "28", "3D", "53", "57", "58", "99");

    private ConnectionFailure() {}

    /**
     * Returns whether a connection has failed, and all that were opened before it are likely to fail as well. A reply that
     * did not come in time is none of these: the server may only be slow, and another try would take as long again.
     *
     * @param failure with the driver's exception as itself or among its causes; the outermost SQLSTATE decides
     */
    public static boolean isStale(Throwable failure) {
        boolean stale = false;
        boolean decided = false;
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return false;
            }
            if (!decided && cause instanceof SQLException sql && sql.getSQLState() != null) {
                stale = isStale(sql.getSQLState());
                decided = true;
            }
        }
        return stale;
    }

    /**
     * Returns whether there was no connection at all: the server did not answer, had none to give, or did not accept the
     * user, the password or the database. A driver that gives no SQLSTATE does so where it got nothing from a server.
     */
    static boolean isRefusal(SQLException failure) {
        String sqlState = failure.getSQLState();
        return sqlState == null || sqlState.length() < 2 || REFUSALS.contains(sqlState.substring(0, 2));
    }

    private static boolean isStale(String sqlState) {
        return sqlState.startsWith(CONNECTION_EXCEPTION_CLASS) || SERVER_GONE.contains(sqlState);
    }
}
