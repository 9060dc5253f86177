package io.exactlyonce.window;

import java.time.Duration;
import org.HdrHistogram.AbstractHistogram;

/**
 * Percentiles of measured latencies; zero if nothing was measured.
 *
 * @param count how many latencies were measured
 * @param certainP95 a cautious p95, for warnings. With few deliveries, one slow delivery can raise p95 by chance. So
 *     this value is three standard errors lower, and zero for fewer than three deliveries
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

    /** Returns how much of the visibility timeout deliveries need: {@link #certainP95} divided by the timeout. */
    public double utilization(Duration visibilityTimeout) {
        return (double) certainP95.toNanos() / visibilityTimeout.toNanos();
    }
}
