package io.exactlyonce.window.foresight;

/**
 * The last eight points of a series on one scale of time, the line through them, and how much such points varied before.
 * Not thread-safe.
 */
final class TrendScale {

    static final int POINTS = 8;

    /** Noise and movements are averages over about this many points. */
    private static final int MEMORY = 200;

    /** Movements count little before there are some. */
    private static final int FEW = 24;

    private static final double LEAST_NOISE = 1e-4;

    /** A movement must exceed what was usual before by this much. */
    private static final double UNUSUAL = 2.5;

    /** Of 28: by chance one line in a thousand rises so much. */
    private static final int MOSTLY_UP = 20;

    private final double[] times = new double[POINTS];
    private final double[] values = new double[POINTS];
    private long size;
    private double noise;
    private long noiseCount;
    private final double[] movements = new double[POINTS];
    private double movement;
    private long movementCount;

    void add(double time, double value) {
        System.arraycopy(times, 1, times, 0, POINTS - 1);
        System.arraycopy(values, 1, values, 0, POINTS - 1);
        times[POINTS - 1] = time;
        values[POINTS - 1] = value;
        size++;
        if (size >= 3) {
            // Second differences: a steady climb is no noise.
            double bend = values[POINTS - 1] - 2 * values[POINTS - 2] + values[POINTS - 3];
            double square = bend * bend / 6;
            noiseCount++;
            noise += (limited(square) - noise) / Math.min(noiseCount, MEMORY);
        }
        if (size >= POINTS) {
            learn(values[POINTS - 1] - values[0]);
        }
    }

    /** One jump must not hide what comes after it. */
    private double limited(double square) {
        return noiseCount < POINTS ? square : Math.min(square, 25 * noise);
    }

    /** Movements count as usual only when the line has left them behind. */
    private void learn(double moved) {
        int slot = (int) (size % POINTS);
        if (size >= 2L * POINTS) {
            movementCount++;
            movement += (movements[slot] * movements[slot] - movement) / Math.min(movementCount + FEW, MEMORY);
        }
        movements[slot] = moved;
    }

    boolean isFull() {
        return size >= POINTS;
    }

    double noise() {
        return noiseCount == 0 ? 0 : noise;
    }

    /**
     * Draws the line.
     *
     * @param now in seconds
     * @param leastNoise variance of a point by what is known from finer scales
     */
    Trend line(double now, double leastNoise) {
        double time = mean(times, 0, POINTS);
        double value = mean(values, 0, POINTS);
        double square = 0;
        double product = 0;
        for (int i = 0; i < POINTS; i++) {
            square += (times[i] - time) * (times[i] - time);
            product += (times[i] - time) * (values[i] - value);
        }
        double slope = product / square;
        double rest = 0;
        for (int i = 0; i < POINTS; i++) {
            double off = values[i] - value - slope * (times[i] - time);
            rest += off * off;
        }
        double variance = Math.max(LEAST_NOISE, Math.max(leastNoise, rest / (POINTS - 2)));
        double span = times[POINTS - 1] - times[0];
        boolean climbs = concordance() >= MOSTLY_UP
                && stepRest() - rest >= 4 * Math.max(LEAST_NOISE, leastNoise)
                && mean(values, POINTS - 2, POINTS) > mean(values, POINTS - 4, POINTS - 2)
                && slope * span >= UNUSUAL * Math.sqrt(movement);
        return new Trend(slope, Math.sqrt(variance / square), Math.exp(value + slope * (now - time)), span, climbs);
    }

    /** Returns how many pairs of points rise, less those that do not: 28 for a climb without a slip, and heedless of outliers. */
    private int concordance() {
        int sum = 0;
        for (int later = 1; later < POINTS; later++) {
            for (int earlier = 0; earlier < later; earlier++) {
                sum += values[later] > values[earlier] ? 1 : -1;
            }
        }
        return sum;
    }

    /** Returns what the best single step, with or without a point in its middle, leaves unexplained. */
    private double stepRest() {
        double best = Double.MAX_VALUE;
        for (int at = 2; at <= POINTS - 2; at++) {
            best = Math.min(best, rest(0, at) + rest(at, POINTS));
            best = Math.min(best, rest(0, at) + rest(at + 1, POINTS));
        }
        return best;
    }

    private double rest(int from, int to) {
        double mean = mean(values, from, to);
        double rest = 0;
        for (int i = from; i < to; i++) {
            rest += (values[i] - mean) * (values[i] - mean);
        }
        return rest;
    }

    private static double mean(double[] numbers, int from, int to) {
        double sum = 0;
        for (int i = from; i < to; i++) {
            sum += numbers[i];
        }
        return sum / (to - from);
    }
}
