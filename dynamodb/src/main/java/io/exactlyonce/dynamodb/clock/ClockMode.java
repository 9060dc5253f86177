package io.exactlyonce.dynamodb.clock;

/** How the expiry of a dead worker's lease is detected. */
public enum ClockMode {
    /** The service's measured clock decides. While no measurement is possible, observation decides. */
    SERVICE,
    /**
     * Observation decides: an observer saw the claim unchanged for a whole lease. For users who do not trust
     * {@code Date}.
     */
    OBSERVED
}
