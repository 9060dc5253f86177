package io.exactlyonce.claim;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Describes and checks the database or table that stores the claims, for startup and health checks. A bean of this type
 * is optional. If there is none, startup does not check the store, and there is no health indicator for claims.
 */
public interface ClaimBackend {

    /** Returns a text that names the server and database, or the service and table, without user and password. */
    String description();

    /**
     * Checks that claims can be stored now.
     *
     * @return details for the health endpoint, by name
     * @throws RuntimeException if the store is unavailable, rejects writes, or has no suitable table
     */
    Map<String, Object> prove();

    /** Starts a check of the store in the background. Does nothing if a check is running or has already passed. */
    default void beginCheck() {}

    /**
     * Waits for the check of the store.
     *
     * @throws RuntimeException the check's exception, if claims cannot be stored
     */
    default void requireReady() {}

    /**
     * Returns whether a check of the store has passed. Listeners, {@code ExactlyOnceOperations} and {@code ParkedKeys}
     * start this check. Before it has passed, periodic tasks (for example the count of parked keys) do nothing, so an
     * application that uses none of them needs no database.
     */
    default boolean isReady() {
        return true;
    }

    /**
     * Returns how long a claim may wait for a connection. Empty if the application has not set this time, or if its
     * connection pool does not report it.
     */
    default Optional<Duration> connectionTimeout() {
        return Optional.empty();
    }

    /**
     * Returns the shortest time that opening a connection to the store has taken. A renewal may have to open a
     * connection, so the audit of the queues warns if the lease is too short for this. Empty if no connection was
     * opened yet, or if the store does not measure this time.
     */
    default Optional<Duration> shortestConnectTime() {
        return Optional.empty();
    }
}
