package io.exactlyonce.dynamodb.clock;

/** The way in which the expiry of a dead worker's lease is detected. */
public enum ClockMode {
    /** The service's measured clock decides; observation, while no measurement is possible. */
    SERVICE,
    /** Observation decides: the claim was seen unchanged for a whole lease. For users who do not trust {@code Date}. */
    OBSERVED
}
