package io.exactlyonce.window.foresight;

import java.time.Duration;

/**
 * Latencies of the last hours; what is older than six hours counts half, than twelve hours a quarter, and so on.
 *
 * @param count how many deliveries these are of, older ones counted in part
 * @param p50 the median; zero if there is none, as are the others
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 */
public record Latencies(long count, Duration p50, Duration p95, Duration p99) {

    static Latencies of(LatencyHistogram counts) {
        return new Latencies(
                Math.round(counts.total()), quantile(counts, 0.5), quantile(counts, 0.95), quantile(counts, 0.99));
    }

    private static Duration quantile(LatencyHistogram counts, double part) {
        return Duration.ofNanos(Math.round(counts.quantile(part) * 1e9));
    }
}
