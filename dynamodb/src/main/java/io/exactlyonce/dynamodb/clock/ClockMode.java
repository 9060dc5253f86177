package io.exactlyonce.dynamodb.clock;

/** The means by which the expiry of a dead worker's lease is detected. */
public enum ClockMode {
    /**
     * The lease has expired by the service's measured clock, or an observer saw the claim unchanged for longer than the
     * lease. While the service's clock cannot be measured, only observation decides.
     */
    SERVICE,
    /**
     * A lease has expired when an observer has seen the claim unchanged for longer than the lease. The service's clock
     * is not used. Choose this mode if you do not trust the {@code Date} header of responses.
     */
    OBSERVED
}
