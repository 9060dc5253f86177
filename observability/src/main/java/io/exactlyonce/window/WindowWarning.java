package io.exactlyonce.window;

import java.time.Duration;

/**
 * Warns operators that deliveries take almost as long as the visibility timeout, or longer. Also reports their
 * recovery.
 *
 * @param p95 the 95th percentile of the last five minutes' deliveries, or of the last hundred if there were fewer
 * @param window the visibility timeout
 */
public record WindowWarning(Kind kind, Duration p95, Duration window) {

    /** {@code NEAR} and {@code BREACHED} are each reported at most once until p95 has recovered. */
    public enum Kind {
        /** p95 is above 80 % of the visibility timeout. */
        NEAR,
        /** p95 is above the visibility timeout. Without renewal, SQS redelivers each message that takes longer. */
        BREACHED,
        /** p95 is below 70 % of the visibility timeout. */
        RECOVERED
    }

    /** Returns p95 divided by the visibility timeout. */
    public double utilization() {
        return (double) p95.toNanos() / window.toNanos();
    }
}
