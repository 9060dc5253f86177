package io.exactlyonce.window;

import java.time.Duration;
import org.HdrHistogram.AbstractHistogram;

/**
 * Percentiles of latencies. All percentiles are zero if there are no deliveries.
 *
 * @param count the number of deliveries
 * @param p50 the median
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 * @param certainP95 a lower bound of p95, three standard errors below p95, so that a few slow deliveries do not count
 *     as a high p95; zero for fewer than three deliveries
 */
public record Latencies(long count, Duration p50, Duration p95, Duration p99, Duration certainP95) {

    static final Latencies NONE = new Latencies(0, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);

    private static final double STANDARD_ERRORS = 3;

    static Latencies of(AbstractHistogram counts) {
        long count = counts.getTotalCount();
        if (count == 0) {
            return NONE;
        }
        double rank = 0.95 * count - STANDARD_ERRORS * Math.sqrt(0.95 * 0.05 * count);
        return new Latencies(
                count,
                percentile(counts, 50),
                percentile(counts, 95),
                percentile(counts, 99),
                rank < 1 ? Duration.ZERO : percentile(counts, 100 * Math.floor(rank) / count));
    }

    private static Duration percentile(AbstractHistogram counts, double percentile) {
        return Duration.ofNanos(counts.getValueAtPercentile(percentile));
    }

    /** Returns {@link #certainP95} as a fraction of the visibility timeout. */
    public double utilization(Duration visibilityTimeout) {
        return (double) certainP95.toNanos() / visibilityTimeout.toNanos();
    }
}
