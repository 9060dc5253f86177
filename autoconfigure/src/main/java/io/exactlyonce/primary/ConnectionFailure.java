package io.exactlyonce.primary;

import com.zaxxer.hikari.HikariDataSource;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Failures after which a fresh connection is likely to work at once, by SQLSTATE. */
public final class ConnectionFailure {

    /** What PostgreSQL answers to a write in a read-only transaction. */
    static final String READ_ONLY = "25006";

    /** The server ends the session (57P01 to 57P03), or takes no writes any more. */
    private static final Set<String> SERVER_GONE = Set.of("57P01", "57P02", "57P03", READ_ONLY);

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
                stale = sql.getSQLState().startsWith("08") || SERVER_GONE.contains(sql.getSQLState());
                decided = true;
            }
        }
        return stale;
    }

    /**
     * Throws a stale connection out of a pool of the application's, and of a HikariCP pool all that are open with it. The pool
     * of our own making has done so by itself.
     *
     * @param connection that failed, not yet given back
     */
    public static void discard(DataSource pool, Connection connection, SQLException failure) {
        if (!isStale(failure)) {
            return;
        }
        try {
            HikariDataSource hikari = ClaimPool.hikari(pool);
            connection.abort(Runnable::run);
            if (hikari != null && hikari.getExceptionOverride() == null) {
                hikari.getHikariPoolMXBean().softEvictConnections();
            }
        } catch (SQLException gone) {
            failure.addSuppressed(gone);
        }
    }
}
