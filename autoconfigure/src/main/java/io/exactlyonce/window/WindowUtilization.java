package io.exactlyonce.window;

import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;

/** How much of a visibility window deliveries use. */
public final class WindowUtilization {

    private WindowUtilization() {}

    /**
     * Returns the part of the window that the 95th percentile of deliveries takes: above 0.8 a window is too short for
     * listeners that do not renew, above 1 they process messages twice.
     *
     * @param p95 receive to acknowledge; zero if nothing was measured
     */
    public static double ratio(Duration p95, VisibilityWindow window) {
        return (double) p95.toNanos() / window.length().toNanos();
    }
}
