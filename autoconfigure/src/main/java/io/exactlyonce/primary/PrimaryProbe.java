package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out at start-up, rather than at the first delivery, whether claims reach a primary, whatever kind of statement or
 * transaction asks; and logs which server keeps them.
 */
public final class PrimaryProbe {

    /** Of a proxy that chooses one of two servers for each session, these miss the replica once in 32 times. */
    private static final int FRESH_CONNECTIONS = 5;

    private static final Logger log = LoggerFactory.getLogger(PrimaryProbe.class);

    private final PrimaryPinnedDataSource dataSource;
    private @Nullable Duration openingTime;

    public PrimaryProbe(PrimaryPinnedDataSource dataSource) {
        this.dataSource = dataSource;
    }

    /**
     * Takes a connection and asks its server. Needs no rights in the database.
     *
     * @return the server that keeps the claims
     * @throws PrimaryUnavailableException if the database cannot be reached, is no PostgreSQL, is not in UTF8, is a replica
     *     or read-only, if some statements would go elsewhere, if the URL permits replicas, if a pooler mixes up prepared
     *     statements, if what is sent together is not run in one transaction, or if a pool of the application's is not set
     *     as claims need it
     */
    public DatabaseServer verify() {
        dataSource.url().flatMap(JdbcUrl::permittedReplicas).ifPresent(type -> {
            throw PrimaryUnavailableException.replicasPermitted(dataSource, type);
        });
        try {
            DatabaseServer server = askOneConnection();
            RoutingCheck.requireNoReadOnlyRouting(dataSource.unproved(), server);
            requireThatAllLeadTo(server);
            log.info(
                    "Claims are kept in database {} on {}, PostgreSQL {}, a primary; connections come from {}",
                    server.database(),
                    server.address(),
                    server.version(),
                    dataSource.source());
            return server;
        } catch (SQLException failure) {
            throw explain(failure);
        }
    }

    /** Returns how long it took to open the connection that took least, proof included; {@code null} before {@link #verify()}. */
    public @Nullable Duration openingTime() {
        return openingTime;
    }

    /**
     * Asks one connection of the pool, for probes that come again and again.
     *
     * @return the server that keeps the claims
     * @throws PrimaryUnavailableException if it cannot be reached, is a replica or read-only
     */
    public DatabaseServer ask() {
        try (Connection connection = dataSource.getConnection()) {
            return PrimaryCheck.requirePrimary(connection).server();
        } catch (SQLException failure) {
            throw explain(failure);
        }
    }

    private DatabaseServer askOneConnection() throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            SessionCheck.require(dataSource, connection);
            return RoutingCheck.requireOneServer(connection);
        }
    }

    /** Connections that come later prove themselves, too; but what balances sessions is better found now. */
    private void requireThatAllLeadTo(DatabaseServer primary) throws SQLException {
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < FRESH_CONNECTIONS; i++) {
            long begun = System.nanoTime();
            try (Connection fresh = dataSource.unproved().getConnection()) {
                DatabaseServer server = PrimaryCheck.requirePrimary(fresh).server();
                shortest = Math.min(shortest, System.nanoTime() - begun);
                if (!server.isSameServerAs(primary)) {
                    throw NotPrimaryException.routed(
                            server, "it answers some connections and %s others".formatted(primary.address()));
                }
                SessionCheck.prepareOften(fresh);
            }
        }
        openingTime = Duration.ofNanos(shortest);
    }

    private PrimaryUnavailableException explain(SQLException failure) {
        SQLException deepest = failure;
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof NotPrimaryException notPrimary) {
                return PrimaryUnavailableException.notPrimary(dataSource, notPrimary);
            }
            if (cause instanceof SQLException unknown && SessionCheck.isMixUp(unknown)) {
                return PrimaryUnavailableException.sessionsMixedUp(dataSource, unknown);
            }
            if (cause instanceof SQLException deeper) {
                deepest = deeper;
            }
        }
        // The pool says only that it timed out; what the driver said is the cause that helps.
        return ConnectionFailure.isRefusal(deepest)
                ? PrimaryUnavailableException.unreachable(dataSource, String.valueOf(deepest.getMessage()), failure)
                : PrimaryUnavailableException.refused(dataSource, deepest);
    }
}
