package io.exactlyonce.claim;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** What keeps claims, as operators see it: a database, or a table of a service. */
public interface ClaimBackend {

    /** Returns server and database, or service and table; no user, no password. */
    String description();

    /**
     * Proves that claims can be kept at this moment.
     *
     * @return details of how, by their names
     * @throws RuntimeException if it is away, takes no writes, or has no table that fits
     */
    Map<String, Object> prove();

    /** Begins to find out whether claims can be kept, unless that is known or under way, and does not wait. */
    default void beginCheck() {}

    /** Returns when claims can be kept, or throws why they cannot. */
    default void requireReady() {}

    /** Returns how long claims may wait for a connection, where the application chose that. */
    default Optional<Duration> connectionTimeout() {
        return Optional.empty();
    }

    /** Returns how long it took to open the latest connection; empty if it is not known, or if claims need none. */
    default Optional<Duration> openingTime() {
        return Optional.empty();
    }
}
