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
 * Stops one call of a handler. While the handler's method runs, its thread is interrupted. If the method has returned a
 * future, the future is cancelled. All deliveries of a batch share one instance. Thread-safe: one thread runs the call,
 * and any thread may stop it.
 *
 * <p>Advice around the application's method may call the method several times, or not at all. Once {@link #awaitWork}
 * was called, each call of the method is reported here. After a stop, no call of the method begins. A stop counts as a
 * stop of the handler's work only if a call of the method is running.
 *
 * <p>The thread is interrupted at most once, and only while it is inside the handler. After the handler, the thread
 * completes claims or belongs to another delivery. The future is cancelled at most once. An ordinary {@link
 * CompletableFuture} completes at once when it is cancelled, even if the work behind the future continues. So the end
 * of a cancelled future does not show that the work has ended.
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
     * Stops the call. Interrupts the thread if it is inside the handler. Cancels the future that the handler has
     * returned, or returns later.
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

    /** Returns the stack of the thread that is inside the handler; empty if the thread has left the handler. */
    public synchronized StackTraceElement[] stack() {
        return inside ? thread.getStackTrace() : new StackTraceElement[0];
    }

    /** Returns whether an interrupt or a cancellation reached the handler's work. */
    public synchronized boolean wasStopped() {
        return interruptedWork || cancelled;
    }

    /** Returns whether a stop was requested, even if the stop did not reach the work. */
    public synchronized boolean isStopRequested() {
        return stopRequested;
    }

    /**
     * Called if the calls of the handler's method are reported from now on, by {@link #beginWork} and {@link #endWork}.
     */
    public synchronized void awaitWork() {
        reportsWork = true;
    }

    /**
     * Called before each call of the handler's method. Returns false after a stop, and the method must not be called.
     */
    public synchronized boolean beginWork() {
        if (stopRequested) {
            return false;
        }
        hasWorked = true;
        working++;
        return true;
    }

    /** Called when a call of the handler's method has ended. */
    public synchronized void endWork() {
        working--;
    }

    /**
     * Called if a failure prevents a call of the handler's method. Advice may catch the failure and return a result.
     * Unless the method was called at all, the handler counts as failed nevertheless.
     */
    public synchronized void refuse(Exception failure) {
        refusal = failure;
    }

    /**
     * Returns the failure that prevented a call of the handler's method. Returns {@code null} if there is none, or if
     * another call of the method was made.
     */
    public synchronized @Nullable Exception refusal() {
        return hasWorked ? null : refusal;
    }

    /** Returns whether the handler's method was called. Returns true if calls are not reported. */
    public synchronized boolean hasWorked() {
        return hasWorked || !reportsWork;
    }

    /**
     * Called when the thread leaves the handler. If the handler did not notice the interrupt of {@link #stop}, clears
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
     * Called when the handler's method has returned a future.
     *
     * @param returned completes when the work ends
     * @param cancellations runs the cancellation of the future, which may call code that waits for the future
     * @param ended is called with the result or the failure, on the thread that completes the future
     * @return completes after {@code ended} has returned; fails if {@code ended} throws
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
     * Called if the handler's stage cannot become a future, so that nothing can cancel the work or detect its end.
     * Returns an exception with the reason. The exception is a cancellation, because after a cancellation, too, the
     * work may continue.
     */
    public synchronized CancellationException cancelled(Throwable why) {
        cancelled = true;
        CancellationException unknown = new CancellationException("The handler's stage cannot become a future: " + why);
        unknown.initCause(why);
        return unknown;
    }

    /**
     * Returns whether the work may continue although its future has failed. True if the future failed because it was
     * cancelled here.
     */
    public synchronized boolean mayStillRun(Throwable failure) {
        return cancelled && failure instanceof CancellationException;
    }

    /** Cancels the future on another thread, because the calling thread may be the one that renews all deliveries. */
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
