package io.exactlyonce.window;

/**
 * Means of the logarithms of latencies with longer and longer memories: where a shorter one is above the next, latency
 * grows. Not thread-safe.
 */
final class Growth {

    private static final double[] MEMORY_SECONDS = {180, 720, 2_880, 11_520, 46_080};
    private static final int PAIRS = MEMORY_SECONDS.length - 1;
    private static final double DAY_SECONDS = 86_400;

    /** Minimum rise in standard errors: thousands are checked in a day, and none may be chance. */
    private static final double CERTAIN = 6;

    /** Minimum rise against the usual one: a daily wave is usual after a day. */
    private static final double UNUSUAL = 2;

    /** Fewest deliveries that a mean is made of. */
    private static final double FEWEST = 8;

    /** Outliers are capped at 2.7 times the usual latency, so that a few do not count as growth. */
    private static final double FARTHEST = 1;

    private static final double SHORTEST_SECONDS = 1e-3;

    /** Squared noise of deliveries that seem to have none. */
    private static final double LEAST_NOISE = 1e-6;

    private final double[] weights = new double[MEMORY_SECONDS.length];
    private final double[] times = new double[MEMORY_SECONDS.length];
    private final double[] logs = new double[MEMORY_SECONDS.length];
    private final double[] squares = new double[MEMORY_SECONDS.length];
    private final double[] usual = new double[PAIRS];
    private double last;

    /**
     * Adds a delivery.
     *
     * @param now when it ended, in seconds
     * @param seconds how long it took
     */
    void add(double now, double seconds) {
        double log = Math.log(Math.max(seconds, SHORTEST_SECONDS));
        if (weights[0] >= FEWEST) {
            double level = logs[0] / weights[0];
            log = Math.max(level - FARTHEST, Math.min(level + FARTHEST, log));
        }
        double elapsed = now - last;
        last = now;
        for (int i = 0; i < weights.length; i++) {
            double kept = Math.exp(-elapsed / MEMORY_SECONDS[i]);
            weights[i] = weights[i] * kept + 1;
            times[i] = times[i] * kept + now;
            logs[i] = logs[i] * kept + log;
            squares[i] = squares[i] * kept + log * log;
        }
        update(Math.min(elapsed, MEMORY_SECONDS[0]) / DAY_SECONDS);
    }

    /** The usual value is an average over a day; a silence adds little to it. */
    private void update(double part) {
        for (int i = 0; i < PAIRS; i++) {
            if (isKnown(i)) {
                usual[i] += (rise(i) * rise(i) - usual[i]) * part;
            }
        }
    }

    /** Returns the growth per second, as a part of the latency, by the steepest pair; 0 if none is certain. */
    double perSecond() {
        double most = 0;
        for (int i = 0; i < PAIRS; i++) {
            double rise = rise(i);
            if (isKnown(i)
                    && rise >= CERTAIN * Math.sqrt(errorSquare(i) + errorSquare(i + 1))
                    && rise >= UNUSUAL * Math.sqrt(usual[i])) {
                most = Math.max(most, rise / gap(i));
            }
        }
        return most;
    }

    private boolean isKnown(int i) {
        return weights[i] >= FEWEST && gap(i) >= MEMORY_SECONDS[i];
    }

    /** Returns by how much the shorter memory's mean is above the longer one's. */
    private double rise(int i) {
        return logs[i] / weights[i] - logs[i + 1] / weights[i + 1];
    }

    /** Returns the time between the middles of the two memories, in seconds. */
    private double gap(int i) {
        return times[i] / weights[i] - times[i + 1] / weights[i + 1];
    }

    /** Returns the variance of a mean; exponential weights count twice as many deliveries as their sum. */
    private double errorSquare(int i) {
        double mean = logs[i] / weights[i];
        return Math.max(LEAST_NOISE, squares[i] / weights[i] - mean * mean) * 0.5 / weights[i];
    }
}
