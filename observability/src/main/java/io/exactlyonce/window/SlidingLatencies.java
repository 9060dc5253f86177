package io.exactlyonce.window;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.IntCountsHistogram;

/**
 * The latest latencies: all latencies of a time span, or a minimum number if the span has fewer. A ring of histograms,
 * of 13 KB each, keeps them. The oldest histogram is emptied and reused. Not thread-safe: {@link WatchedLatency} has
 * the lock.
 */
final class SlidingLatencies {

    /** Latencies are known to within 1 %. */
    private static final int DIGITS = 2;

    private static final long SHORTEST_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    /** Longer latencies count as this value. SQS ends a receive after twelve hours. */
    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(24);

    private final IntCountsHistogram[] ring;
    private final long spanNanos;
    private final int fewest;
    private int current;
    private long filledSince;

    /**
     * @param parts the number of histograms; one of them is being filled, and the others cover the span
     * @param span the age from which a latency is old
     * @param fewest the number of latencies that are kept even if they are old
     * @param nanos the current time
     */
    SlidingLatencies(int parts, Duration span, int fewest, long nanos) {
        ring = new IntCountsHistogram[parts];
        for (int i = 0; i < parts; i++) {
            ring[i] = empty();
        }
        spanNanos = span.toNanos() / (parts - 1);
        this.fewest = fewest / (parts - 1);
        filledSince = nanos;
    }

    private static IntCountsHistogram empty() {
        return new IntCountsHistogram(SHORTEST_NANOS, LONGEST_NANOS, DIGITS);
    }

    void add(long nanos, Duration latency) {
        if (nanos - filledSince >= spanNanos && ring[current].getTotalCount() >= fewest) {
            current = (current + 1) % ring.length;
            ring[current].reset();
            filledSince = nanos;
        }
        ring[current].recordValue(Math.min(LONGEST_NANOS, latency.toNanos()));
    }

    Latencies latencies() {
        IntCountsHistogram all = empty();
        for (IntCountsHistogram part : ring) {
            all.add(part);
        }
        return Latencies.of(all);
    }
}
