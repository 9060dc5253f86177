package io.exactlyonce.dynamodb.clock;

/** How it is known that the lease of a holder that vanished is over. */
public enum ClockMode {
    /** By the service's clock, measured; by observation while it cannot be. */
    SERVICE,
    /** By observation only: the claim was seen unchanged for a whole lease. For those who trust no {@code Date}. */
    OBSERVED
}
