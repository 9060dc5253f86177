package io.exactlyonce.window.foresight;

import java.time.Duration;

/**
 * Latencies of the last hours; what is older than six hours counts half, than twelve hours a quarter, and so on.
 *
 * @param count how many deliveries these are of, older ones counted in part
 * @param p50 the median; zero if there is none, as are the others
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 * @param p50Range where the median is with 95 % certainty, by the number of deliveries
 * @param p99Range where the 99th percentile is with 95 % certainty
 */
public record Latencies(long count, Duration p50, Duration p95, Duration p99, Range p50Range, Range p99Range) {

    /** From the shortest to the longest value that a percentile may have. */
    public record Range(Duration from, Duration to) {}

    static Latencies of(LatencyCounts counts) {
        return new Latencies(
                Math.round(counts.total()),
                quantile(counts, 0.5),
                quantile(counts, 0.95),
                quantile(counts, 0.99),
                range(counts, 0.5),
                range(counts, 0.99));
    }

    private static Range range(LatencyCounts counts, double part) {
        double error = 1.96 * Math.sqrt(part * (1 - part) / Math.max(1, counts.total()));
        return new Range(quantile(counts, Math.max(0, part - error)), quantile(counts, Math.min(1, part + error)));
    }

    private static Duration quantile(LatencyCounts counts, double part) {
        return Duration.ofNanos(Math.round(counts.quantile(part) * 1e9));
    }
}
