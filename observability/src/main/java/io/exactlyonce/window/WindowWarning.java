package io.exactlyonce.window;

import java.time.Duration;

/**
 * A report for operators about a listener's latency, compared with the visibility timeout.
 *
 * @param kind the change
 * @param p95 the 95th percentile of the deliveries of the last five minutes, or of the last hundred deliveries if the
 *     five minutes have fewer
 * @param window the visibility timeout
 */
public record WindowWarning(Kind kind, Duration p95, Duration window) {

    /** The kinds of warnings. {@code NEAR} and {@code BREACHED} are each reported at most once before p95 recovers. */
    public enum Kind {
        /** p95 is above 80 % of the visibility timeout. */
        NEAR,
        /**
         * p95 is above the visibility timeout. Without renewal, the message of each delivery that takes longer than
         * the timeout is redelivered.
         */
        BREACHED,
        /** p95 is below 70 % of the visibility timeout. */
        RECOVERED
    }

    /** Returns p95 as a fraction of the visibility timeout. */
    public double utilization() {
        return (double) p95.toNanos() / window.toNanos();
    }
}
