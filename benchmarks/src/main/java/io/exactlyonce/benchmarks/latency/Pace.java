package io.exactlyonce.benchmarks.latency;

import java.util.concurrent.TimeUnit;

/** A low load: one unit of work after another, with a pause before each. */
final class Pace {

    private static final long PAUSE_MILLIS = 20;

    private int left;

    Pace(int times) {
        this.left = times;
    }

    /** Waits until the next unit of work is due. Returns false at the end. */
    boolean await() throws InterruptedException {
        if (left-- == 0) {
            return false;
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        return true;
    }
}
