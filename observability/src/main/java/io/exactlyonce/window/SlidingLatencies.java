package io.exactlyonce.window;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.IntCountsHistogram;

/**
 * The latest latencies: all latencies of a time span, or a minimum number of latencies if the span has fewer. A ring
 * of histograms, of 13 KB each, counts the latencies. When a histogram is complete, the oldest histogram is emptied
 * and filled next. This class is not thread-safe, so {@link WatchedLatency} calls it under a lock.
 */
final class SlidingLatencies {

    /** The significant digits of a latency in a histogram. Two digits mean an error of at most 1 %. */
    private static final int DIGITS = 2;

    private static final long SHORTEST_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    /**
     * The longest latency in a histogram. A longer latency is counted as 24 hours. SQS allows visibility timeouts of
     * at most twelve hours.
     */
    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(24);

    private final IntCountsHistogram[] ring;
    private final long spanNanos;
    private final int fewest;
    private int current;
    private long filledSince;

    /**
     * @param parts the number of histograms. One histogram is being filled, and the others cover the span
     * @param span the time span whose latencies are all kept
     * @param fewest the number of latencies that are kept even if they are older than the span
     * @param nanos the current time of a nanosecond clock
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
