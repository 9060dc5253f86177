package io.exactlyonce.window;

/**
 * A histogram of latencies with 832 buckets, 32 to an octave, from 1 ms to 65,536 s: quantiles are off by at most 3 %.
 * Not thread-safe.
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

    /** Subtracts another histogram's latencies. */
    void subtract(LatencyHistogram other) {
        for (int i = 0; i < SIZE; i++) {
            counts[i] -= other.counts[i];
        }
        total -= other.total;
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
     * Returns quantiles in seconds by nearest rank, placed within their buckets; 0 if there is no latency.
     *
     * @param parts from 0 to 1, in ascending order
     */
    double[] quantiles(double... parts) {
        double[] found = new double[parts.length];
        int part = 0;
        double rank = rank(parts[part]);
        double before = 0;
        for (int i = 0; i < SIZE; i++) {
            double after = before + counts[i];
            while (after > before && after >= rank) {
                double inside = Math.max(0, rank - before - 0.5) / counts[i];
                found[part] = edge(i) + (edge(i + 1) - edge(i)) * inside;
                if (++part == parts.length) {
                    return found;
                }
                rank = rank(parts[part]);
            }
            before = after;
        }
        return found;
    }

    private double rank(double part) {
        return Math.min(total, Math.max(1, Math.ceil(part * total - 1e-9)));
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
