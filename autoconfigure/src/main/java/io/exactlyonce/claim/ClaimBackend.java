package io.exactlyonce.claim;

import java.util.Map;

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
}
