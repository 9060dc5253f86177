package io.exactlyonce.window.foresight;

/**
 * A series of latencies, seen on ten scales of time: each point of a scale is the mean of two of the finer one, so that the
 * coarsest has lines of hours or days. Not thread-safe.
 */
final class TrendSeries {

    private static final int SCALES = 10;

    private final TrendScale[] scales = new TrendScale[SCALES];
    private final Trend[] trends = new Trend[SCALES];
    private final double[] heldTimes = new double[SCALES];
    private final double[] heldValues = new double[SCALES];
    private final boolean[] holds = new boolean[SCALES];

    TrendSeries() {
        for (int i = 0; i < SCALES; i++) {
            scales[i] = new TrendScale();
            trends[i] = Trend.UNKNOWN;
        }
    }

    /**
     * Adds a point.
     *
     * @param now the time, in seconds
     * @param time the middle of the time in which the latency was measured, in seconds
     * @param latency in seconds
     */
    void add(double now, double time, double latency) {
        double at = time;
        double value = Math.log(Math.max(latency, 1e-3));
        double noise = 0;
        for (int i = 0; i < SCALES; i++) {
            TrendScale scale = scales[i];
            scale.add(at, value);
            noise = Math.max(scale.noise(), noise / 2);
            if (scale.isFull()) {
                trends[i] = scale.line(now, noise);
            }
            if (!holds[i]) {
                holds[i] = true;
                heldTimes[i] = at;
                heldValues[i] = value;
                return;
            }
            holds[i] = false;
            at = (at + heldTimes[i]) / 2;
            value = (value + heldValues[i]) / 2;
        }
    }

    int scales() {
        return SCALES;
    }

    Trend trend(int scale) {
        return trends[scale];
    }

    /** Returns the standard deviation of the finest points, as a part of the latency. */
    double noise() {
        return Math.sqrt(scales[0].noise());
    }
}
