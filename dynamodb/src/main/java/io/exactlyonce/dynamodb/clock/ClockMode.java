package io.exactlyonce.dynamodb.clock;

/** The way in which the expiry of a dead worker's lease is detected. */
public enum ClockMode {
    /** By the service's clock, measured; by observation while it cannot be. */
    SERVICE,
    /** By observation only: the claim was seen unchanged for a whole lease. For users who do not trust {@code Date}. */
    OBSERVED
}
