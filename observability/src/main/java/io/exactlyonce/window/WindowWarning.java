package io.exactlyonce.window;

import java.time.Duration;
import java.util.Optional;

/**
 * A new warning about a listener's visibility timeout, for its operator.
 *
 * @param kind the subject
 * @param p95 of the deliveries of the last five minutes, or of the last twenty if those are fewer
 * @param window the visibility timeout
 * @param timeToBreach until p95 reaches it at its present growth; zero if it has reached it; empty if no growth is
 *     certain
 * @param shareBeyond part of the last hour's deliveries that outlasted it, from 0 to 1
 */
public record WindowWarning(
        Kind kind, Duration p95, Duration window, Optional<Duration> timeToBreach, double shareBeyond) {

    /** The kinds of warnings. Each is reported once, and again only after a recovery. */
    public enum Kind {
        /** Latency, or the share beyond the visibility timeout, grows so fast that p95 will soon reach it. */
        BREACH_AHEAD,
        /** p95 is above 80 % of the visibility timeout. */
        NEAR,
        /** p95 is above the visibility timeout: without renewal each of these deliveries is redelivered. */
        BREACHED,
        /** p95 has been below 70 % of the visibility timeout for ten minutes, without growth towards it. */
        RECOVERED
    }

    /** Returns p95 as a part of the visibility timeout. */
    public double utilization() {
        return (double) p95.toNanos() / window.toNanos();
    }
}
