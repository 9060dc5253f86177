package io.exactlyonce.window;

import java.time.Duration;
import java.util.Optional;

/**
 * The latencies of a listener's deliveries against their visibility timeout, at one moment.
 *
 * @param window the visibility timeout
 * @param latencies over the last hours; weights halve every six hours
 * @param recent of the last five minutes' deliveries, or of the last twenty if those are fewer; empty if there was no
 *     delivery for five minutes
 * @param sinceLast time since the last delivery ended, or since the listener first started if none has
 * @param timeToBreach until p95 of recent deliveries reaches the visibility timeout at its present growth; zero if it
 *     has reached it; empty if no growth is certain
 * @param shareBeyond part of the last hour's deliveries that outlasted it, from 0 to 1
 * @param isShareGrowing whether that share is significantly larger than over the last day
 */
public record LatencyForecast(
        Duration window,
        Latencies latencies,
        Latencies recent,
        Duration sinceLast,
        Optional<Duration> timeToBreach,
        double shareBeyond,
        boolean isShareGrowing) {

    /** Returns the 95th percentile of recent deliveries as a part of the visibility timeout. */
    public double utilization() {
        return (double) recent.p95().toNanos() / window.toNanos();
    }

    /** Returns the overruns in words, such as "2.0 in 1,000 outlast the visibility timeout, growing". */
    public String overruns() {
        return "%.1f in 1,000 outlast the visibility timeout%s"
                .formatted(shareBeyond * 1_000, isShareGrowing ? ", growing" : "");
    }
}
