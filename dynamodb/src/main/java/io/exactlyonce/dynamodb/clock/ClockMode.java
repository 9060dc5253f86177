package io.exactlyonce.dynamodb.clock;

/** Ways to find out that a dead worker's lease has expired. */
public enum ClockMode {
    /**
     * Uses DynamoDB's clock, which is measured by its responses. A lease has also expired if its item was seen
     * unchanged for longer than the lease. If the clock cannot be measured, only this second rule applies.
     */
    SERVICE,
    /**
     * Does not use DynamoDB's clock. A lease has expired if its item was seen unchanged for longer than the lease.
     * Choose this mode if you do not trust the {@code Date} header of responses.
     */
    OBSERVED
}
