package io.exactlyonce.claim;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The place where claims are stored, as operators see it: a database, or a table of a service. A bean of this type is
 * optional. Without such a bean, startup does not check the store, and there is no health indicator for claims.
 */
public interface ClaimBackend {

    /** Returns the server and database, or the service and table, without user and password. */
    String description();

    /**
     * Checks that claims can be stored now.
     *
     * @return details, by their names
     * @throws RuntimeException if the store is unavailable, rejects writes, or has no suitable table
     */
    Map<String, Object> prove();

    /**
     * Begins to check whether claims can be stored, and does not wait for the result. Does nothing while a check runs,
     * and after a check has passed.
     */
    default void beginCheck() {}

    /** Waits until a check has shown that claims can be stored. Throws the failure if claims cannot be stored. */
    default void requireReady() {}

    /**
     * Returns whether a check has shown that claims can be stored. Tasks that run without a claim call the store only if
     * this is true, so that an application that claims nothing needs no store.
     */
    default boolean isReady() {
        return true;
    }

    /**
     * Returns how long a claim may wait for a connection. Empty if the application has not set this time, or if the
     * time is not known.
     */
    default Optional<Duration> connectionTimeout() {
        return Optional.empty();
    }

    /**
     * Returns the shortest time in which a connection was opened. Empty if no time is known yet, or if claims need no
     * connection.
     */
    default Optional<Duration> shortestConnectTime() {
        return Optional.empty();
    }
}
