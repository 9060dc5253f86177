package io.exactlyonce.window;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Computes the two kinds of overruns of a visibility timeout without the engine. Drift: the 95th percentile of five
 * minutes, or of the last 20 deliveries if five minutes have fewer, is above the timeout. Stray: a single delivery
 * takes longer than the timeout.
 */
final class Overruns {

    private static final double SECONDS = 300;
    private static final int FEWEST = 20;

    private final double timeoutSeconds;
    private final Deque<double[]> recent = new ArrayDeque<>();
    private int beyond;
    private long deliveries;
    private long strays;
    private double driftAt = Double.NaN;

    Overruns(double timeoutSeconds) {
        this.timeoutSeconds = timeoutSeconds;
    }

    void note(double second, double latency) {
        deliveries++;
        recent.addLast(new double[] {second, latency});
        if (latency > timeoutSeconds) {
            beyond++;
            strays++;
        }
        while (recent.size() > FEWEST && recent.getFirst()[0] < second - SECONDS) {
            if (recent.removeFirst()[1] > timeoutSeconds) {
                beyond--;
            }
        }
        int size = recent.size();
        if (Double.isNaN(driftAt) && size >= FEWEST && beyond > size - Math.ceil(0.95 * size)) {
            driftAt = second;
        }
    }

    /** Returns the first time of drift beyond the visibility timeout, in seconds; NaN if there was none. */
    double driftAt() {
        return driftAt;
    }

    double straysPerThousand() {
        return deliveries == 0 ? 0 : 1_000.0 * strays / deliveries;
    }
}
