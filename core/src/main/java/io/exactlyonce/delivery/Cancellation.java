package io.exactlyonce.delivery;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.PrintableException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops a running handler. If the handler's method is running, interrupts its thread. If the method has returned a
 * future, cancels the future. Does each of these at most once. All deliveries of a batch share one instance.
 * Thread-safe.
 *
 * <p>Interrupts the thread only while it is inside the handler. After the handler, the thread may already work for
 * another delivery.
 *
 * <p>A cancelled {@link CompletableFuture} completes at once, although the work behind it may continue.
 *
 * <p>Advice (for example a retry) may call the handler's method several times, or not at all. So each call of the
 * method can be reported ({@link #awaitWork}, {@link #beginWork}, {@link #endWork}). A stop then prevents further
 * calls. If a stop interrupted only the advice (for example between two calls), {@link #wasStopped} returns false.
 */
public final class Cancellation implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Cancellation.class);

    private final Thread thread = Thread.currentThread();
    private boolean inside = true;
    private boolean stopRequested;
    private boolean interrupted;
    private boolean interruptedWork;
    private boolean cancelled;
    private boolean reportsWork;
    private boolean hasWorked;
    private int working;
    private @Nullable Exception refusal;
    private @Nullable CompletableFuture<?> future;
    private Executor cancellations = Runnable::run;

    /**
     * Stops the handler. Interrupts the thread if it is inside the handler. Cancels the handler's future, even if the
     * handler returns the future later.
     */
    public void stop() {
        synchronized (this) {
            stopRequested = true;
            if (inside && !interrupted) {
                interrupted = true;
                interruptedWork = !reportsWork || working > 0;
                thread.interrupt();
            }
        }
        cancelIfStopped();
    }

    public synchronized boolean isInside() {
        return inside;
    }

    /** Returns the stack trace of the thread inside the handler; empty if the thread has left the handler. */
    public synchronized StackTraceElement[] stack() {
        return inside ? thread.getStackTrace() : new StackTraceElement[0];
    }

    /** Returns whether a stop interrupted the handler's method or cancelled its future. */
    public synchronized boolean wasStopped() {
        return interruptedWork || cancelled;
    }

    /** Returns whether {@link #stop} was called, even if the handler's method was not running. */
    public synchronized boolean isStopRequested() {
        return stopRequested;
    }

    /**
     * Announces that each call of the handler's method will be reported with {@link #beginWork} and {@link #endWork}.
     */
    public synchronized void awaitWork() {
        reportsWork = true;
    }

    /**
     * Reports that the handler's method is about to be called.
     *
     * @return false after a stop. The method must then not be called
     */
    public synchronized boolean beginWork() {
        if (stopRequested) {
            return false;
        }
        hasWorked = true;
        working++;
        return true;
    }

    public synchronized void endWork() {
        working--;
    }

    /**
     * Reports why advice could not call the handler's method (for example because the claim was lost), or not once
     * more. If the method is never called, the handler counts as failed, even if the advice returns a result.
     */
    public synchronized void refuse(Exception failure) {
        refusal = failure;
    }

    /** Returns whether a call was refused. The failure of the handler is then no reason to park the key. */
    public synchronized boolean hasRefused() {
        return refusal != null;
    }

    /**
     * Returns the exception that was passed to {@link #refuse}. Returns {@code null} if there is none, or if the
     * handler's method was called at least once.
     */
    public synchronized @Nullable Exception refusal() {
        return hasWorked ? null : refusal;
    }

    /**
     * Returns whether the handler's method was called. Always true if {@link #awaitWork} was not called, because calls
     * of the method are then not reported.
     */
    public synchronized boolean hasWorked() {
        return hasWorked || !reportsWork;
    }

    /**
     * Marks that the thread has left the handler. Clears the interrupt of {@link #stop} if the handler did not notice
     * it.
     */
    @Override
    public synchronized void close() {
        inside = false;
        if (interrupted) {
            Thread.interrupted();
        }
    }

    /**
     * Follows the future that the handler's method has returned, and cancels it after a stop.
     *
     * @param cancellations runs {@code cancel} on another thread, because {@code cancel} may run the application's code
     * @param ended is called with the result or the failure when the future completes
     * @return a future that completes when {@code ended} has returned, and fails if {@code ended} throws
     */
    public CompletableFuture<Void> continueWith(
            CompletableFuture<?> returned,
            Executor cancellations,
            BiConsumer<@Nullable Object, @Nullable Throwable> ended) {
        synchronized (this) {
            this.future = returned;
            this.cancellations = cancellations;
        }
        cancelIfStopped();
        return returned.handle((result, failure) -> {
            ended.accept(result, failure == null ? null : Causes.unwrap(failure));
            return null;
        });
    }

    /**
     * Makes the exception for a handler whose {@code CompletionStage} does not support {@code toCompletableFuture}. The
     * handler's work may continue, and nothing can detect its end. So {@link #mayStillRun} returns true for this
     * exception.
     */
    public synchronized CancellationException cancelled(Throwable why) {
        cancelled = true;
        CancellationException unknown = new CancellationException("The handler's stage cannot become a future: " + why);
        unknown.initCause(why);
        return unknown;
    }

    /**
     * Returns whether the handler's work may still be running, although its future has failed. True if {@link #stop}
     * has cancelled the future, or if {@link #cancelled} has made this exception.
     */
    public synchronized boolean mayStillRun(Throwable failure) {
        return cancelled && failure instanceof CancellationException;
    }

    /** Cancels on another thread, because {@code cancel} may run slow code of the application. */
    private void cancelIfStopped() {
        CompletableFuture<?> goingOn;
        Executor threads;
        synchronized (this) {
            goingOn = future;
            threads = cancellations;
            if (!stopRequested || cancelled || goingOn == null || goingOn.isDone()) {
                return;
            }
            cancelled = true;
        }
        threads.execute(() -> cancel(goingOn));
    }

    private static void cancel(CompletableFuture<?> future) {
        try {
            future.cancel(true);
        } catch (RuntimeException failure) {
            log.warn(
                    "Cancelling a handler's future failed; its work continues until it ends by itself",
                    PrintableException.of(failure));
        }
    }
}
