package io.exactlyonce.window;

import java.time.Duration;
import java.util.Optional;

/**
 * What a listener's operator should know about its window now, and was not told yet.
 *
 * @param kind what it is about
 * @param p95 of the deliveries of the last five minutes, or of the last twenty where those are fewer
 * @param window the visibility window
 * @param timeToBreach until p95 reaches the window if it goes on to grow as it does; zero if it has reached it; empty if
 *     no growth is certain
 * @param shareBeyond part of the last hour's deliveries that outlasted the window, from 0 to 1
 */
public record WindowWarning(
        Kind kind, Duration p95, Duration window, Optional<Duration> timeToBreach, double shareBeyond) {

    /** Each kind is told once, and again only after a recovery. */
    public enum Kind {
        /** Latency, or the share of deliveries that outlast the window, grows so fast that p95 will soon reach the window. */
        BREACH_AHEAD,
        /** p95 is beyond 80 % of the window. */
        NEAR,
        /** p95 is beyond the window: without renewal each of these deliveries is a duplicate. */
        BREACHED,
        /** p95 has been below 70 % of the window for ten minutes, and nothing grows towards it. */
        RECOVERED
    }

    /** Returns p95 as a part of the window. */
    public double utilization() {
        return (double) p95.toNanos() / window.toNanos();
    }
}
