package io.exactlyonce.window;

import java.time.Duration;

/**
 * Percentiles of latencies.
 *
 * @param count how many deliveries these are of
 * @param p50 the median; zero if there is none, as are the others
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 */
public record Latencies(long count, Duration p50, Duration p95, Duration p99) {

    static final Latencies NONE = new Latencies(0, Duration.ZERO, Duration.ZERO, Duration.ZERO);

    static Latencies of(LatencyHistogram counts) {
        double[] seconds = counts.quantiles(0.5, 0.95, 0.99);
        return new Latencies(
                Math.round(counts.total()), duration(seconds[0]), duration(seconds[1]), duration(seconds[2]));
    }

    static Duration duration(double seconds) {
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }
}
