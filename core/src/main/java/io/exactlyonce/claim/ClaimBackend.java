package io.exactlyonce.claim;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The store of claims, as operators see it: a database, or a table of a service. Optional: without a bean of this type,
 * startup does not check the store, and claims have no health.
 */
public interface ClaimBackend {

    /** Returns server and database, or service and table; no user, no password. */
    String description();

    /**
     * Checks that claims can be stored now.
     *
     * @return details, by their names
     * @throws RuntimeException if it is unavailable, rejects writes, or has no suitable table
     */
    Map<String, Object> prove();

    /** Starts checking whether claims can be stored, unless a check is running or has passed. Does not wait. */
    default void beginCheck() {}

    /** Waits until claims can be stored, or throws why they cannot. */
    default void requireReady() {}

    /** Returns how long claims may wait for a connection; empty if the application did not set a time. */
    default Optional<Duration> connectionTimeout() {
        return Optional.empty();
    }

    /**
     * Returns the shortest time in which a connection was opened; empty if it is not known yet, or if claims need no
     * connection.
     */
    default Optional<Duration> shortestConnectTime() {
        return Optional.empty();
    }
}
