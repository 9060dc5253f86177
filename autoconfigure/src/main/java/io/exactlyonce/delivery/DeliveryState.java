package io.exactlyonce.delivery;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * How far the processing of a delivery has come, and what stops it. Thread-safe: processed by one thread, stopped by
 * others.
 */
final class DeliveryState {

    private final CompletableFuture<Void> left = new CompletableFuture<>();

    private volatile @Nullable HandlerRun run;
    private volatile @Nullable FutureRun future;
    private volatile boolean stopRequested;
    private volatile boolean barred;
    private boolean entered;
    private boolean abandoned;

    synchronized boolean enter() {
        entered = !barred;
        return entered;
    }

    /** Keeps both the processing and the handler from beginning; tells whether the processing has not begun. */
    synchronized boolean bar() {
        barred = true;
        return !entered;
    }

    boolean isBarred() {
        return barred;
    }

    void leave() {
        left.complete(null);
    }

    synchronized CompletableFuture<Void> left() {
        return entered ? left : CompletableFuture.completedFuture(null);
    }

    void enterHandler(HandlerRun begun) {
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

    boolean wasHandled() {
        return run != null;
    }

    void stopHandler() {
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

    boolean mayHandlerBegin() {
        return !stopRequested && !barred;
    }

    void abandon() {
        synchronized (this) {
            barred = true;
            abandoned = true;
        }
        stopHandler();
    }

    synchronized boolean isAbandoned() {
        return abandoned;
    }
}
