package io.exactlyonce.window;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.IntCountsHistogram;

/**
 * The most recent latencies, for example those of the last five minutes. If there were few, older ones are kept, too.
 *
 * <p>The latencies are counted in several histograms of 13 KB, one after the other. When the current histogram is old
 * enough and has enough latencies, the oldest one is emptied and becomes the current one. Not thread-safe;
 * {@link WatchedLatency} calls this class under a lock.
 */
final class SlidingLatencies {

    /** Significant digits of latencies in a histogram. With two digits, the error is at most 1 %. */
    private static final int DIGITS = 2;

    private static final long SHORTEST_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    /**
     * A longer latency is counted as this one. It is twice as long as SQS's longest visibility timeout, so the
     * difference is not needed.
     */
    private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(24);

    private final IntCountsHistogram[] ring;
    private final long spanNanos;
    private final int fewest;
    private int current;
    private long filledSince;

    /**
     * @param parts the number of histograms, at least two. One is filled, and all others together cover the time span
     * @param span each latency is kept for at least this time
     * @param fewest at least this many latencies are kept, even if they are older than the time span
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
