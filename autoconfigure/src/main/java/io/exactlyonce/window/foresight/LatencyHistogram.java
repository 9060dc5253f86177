package io.exactlyonce.window.foresight;

/**
 * How many latencies fell into each of 832 buckets, 32 to an octave, from 1 ms to 65,536 s: a quantile is off by 3 % at
 * most. Not thread-safe.
 */
final class LatencyHistogram {

    private static final int BITS = 5;
    private static final int SHIFT = 52 - BITS;
    private static final int LOWEST_EXPONENT = -10;
    private static final int OCTAVES = 26;
    private static final int SIZE = OCTAVES << BITS;
    private static final double SHORTEST = Math.scalb(1.0, LOWEST_EXPONENT);
    private static final double LONGEST = Math.scalb(1.0, LOWEST_EXPONENT + OCTAVES);
    private static final long OFFSET = Double.doubleToRawLongBits(SHORTEST) >>> SHIFT;

    private final float[] counts = new float[SIZE];
    private double total;

    void add(double seconds) {
        counts[bucket(seconds)]++;
        total++;
    }

    /** Adds another one so many times: -1 takes it away. */
    void add(LatencyHistogram other, int times) {
        for (int i = 0; i < SIZE; i++) {
            counts[i] += times * other.counts[i];
        }
        total += times * other.total;
    }

    void halve() {
        for (int i = 0; i < SIZE; i++) {
            counts[i] /= 2;
        }
        total /= 2;
    }

    double total() {
        return total;
    }

    /** Returns how many latencies are above a bound; in the bucket of the bound, by how much of the bucket is. */
    double above(double seconds) {
        int at = bucket(seconds);
        double lower = edge(at);
        double upper = edge(at + 1);
        double above = counts[at] * Math.max(0, Math.min(1, (upper - seconds) / (upper - lower)));
        for (int i = at + 1; i < SIZE; i++) {
            above += counts[i];
        }
        return above;
    }

    /**
     * Returns a quantile in seconds by nearest rank, placed within its bucket; 0 if there is no latency.
     *
     * @param part from 0 to 1
     */
    double quantile(double part) {
        double rank = Math.min(total, Math.max(1, Math.ceil(part * total - 1e-9)));
        double before = 0;
        for (int i = 0; i < SIZE; i++) {
            float count = counts[i];
            if (count > 0 && before + count >= rank) {
                double lower = edge(i);
                return lower + (edge(i + 1) - lower) * Math.max(0, rank - before - 0.5) / count;
            }
            before += count;
        }
        return 0;
    }

    /** The bits of a positive double grow with it: exponent and first bits of the mantissa are the bucket. */
    private static int bucket(double seconds) {
        if (!(seconds > SHORTEST)) {
            return 0;
        }
        return seconds >= LONGEST ? SIZE - 1 : (int) ((Double.doubleToRawLongBits(seconds) >>> SHIFT) - OFFSET);
    }

    private static double edge(int bucket) {
        return Double.longBitsToDouble((bucket + OFFSET) << SHIFT);
    }
}
