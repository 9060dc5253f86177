package io.exactlyonce.delivery;

import org.jspecify.annotations.Nullable;

/**
 * What runs for a delivery, and what stops it: the thread that is inside its reconciler or handler, then the future that
 * goes on after the handler's method. A stop that comes first reaches what begins later. Thread-safe: run by one thread,
 * stopped by any.
 */
final class HandlerExecution {

    private volatile @Nullable HandlerRun run;
    private volatile @Nullable FutureRun future;
    private volatile boolean stopRequested;

    void enter(HandlerRun begun) {
        run = begun;
        if (stopRequested) {
            begun.interrupt();
        }
    }

    /** The handler was not called after all. */
    void withdraw() {
        run = null;
    }

    void goOn(FutureRun begun) {
        future = begun;
        if (stopRequested) {
            begun.cancel();
        }
    }

    boolean wasEntered() {
        return run != null;
    }

    void stop() {
        stopRequested = true;
        HandlerRun begun = run;
        if (begun != null) {
            begun.interrupt();
        }
        FutureRun goingOn = future;
        if (goingOn != null) {
            goingOn.cancel();
        }
    }

    boolean isStopRequested() {
        return stopRequested;
    }
}
