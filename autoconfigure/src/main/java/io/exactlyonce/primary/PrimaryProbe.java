package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out at start-up, rather than at the first delivery, whether claims reach a primary; and logs which server keeps
 * them.
 */
public final class PrimaryProbe {

    private static final Logger log = LoggerFactory.getLogger(PrimaryProbe.class);

    private final PrimaryPinnedDataSource dataSource;

    public PrimaryProbe(PrimaryPinnedDataSource dataSource) {
        this.dataSource = dataSource;
    }

    /**
     * Takes a connection and asks its server.
     *
     * @return the server that keeps the claims
     * @throws PrimaryUnavailableException if the database cannot be reached, or is a replica or read-only
     */
    public DatabaseServer verify() {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseServer server = PrimaryCheck.requirePrimary(connection);
            log.info("Claims are kept by {}, PostgreSQL {}, a primary", server.address(), server.version());
            return server;
        } catch (SQLException failure) {
            throw explain(failure);
        }
    }

    private PrimaryUnavailableException explain(SQLException failure) {
        SQLException deepest = failure;
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof NotPrimaryException notPrimary) {
                return PrimaryUnavailableException.notPrimary(dataSource.url(), notPrimary);
            }
            if (cause instanceof SQLException deeper) {
                deepest = deeper;
            }
        }
        // The pool says only that it timed out; what the driver said is the cause that helps.
        return PrimaryUnavailableException.unreachable(dataSource.url(), String.valueOf(deepest.getMessage()), failure);
    }
}
