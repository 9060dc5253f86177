package io.exactlyonce.benchmarks.wire;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;

/** Counts durations in steps of 10 us. Longer durations than 100 ms count as 100 ms. Thread-safe. */
public final class Histogram {

    private static final long STEP_NANOS = 10_000;
    private static final int STEPS = 10_000;
    private static final double MICROS_PER_STEP = STEP_NANOS / 1e3;

    private final AtomicLongArray counts = new AtomicLongArray(STEPS + 1);

    void add(long nanos) {
        counts.incrementAndGet((int) Math.min(STEPS, Math.max(0, nanos / STEP_NANOS)));
    }

    void clear() {
        IntStream.rangeClosed(0, STEPS).forEach(step -> counts.set(step, 0));
    }

    /** Returns the number of durations. */
    public long count() {
        return IntStream.rangeClosed(0, STEPS).mapToLong(counts::get).sum();
    }

    /** Returns a quantile in microseconds, as the middle of its step; NaN if nothing was counted. */
    public double micros(double quantile) {
        long left = (long) Math.ceil(quantile * count());
        for (int step = 0; left > 0 && step <= STEPS; step++) {
            left -= counts.get(step);
            if (left <= 0) {
                return (step + 0.5) * MICROS_PER_STEP;
            }
        }
        return Double.NaN;
    }
}
