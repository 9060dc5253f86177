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
 * Stops one call of a handler: first its thread, then the future that continues after its method. The deliveries of a
 * batch share it. Thread-safe: one thread runs the call, and any thread may stop it.
 *
 * <p>Advice around the application's method may call the method several times, or not at all. If these calls are
 * reported ({@link #awaitWork}), no call begins after a stop. A stop before, between or after them has not ended any
 * work.
 *
 * <p>An interrupt reaches the thread at most once, and only while the thread is inside the handler: afterwards the
 * thread completes claims or belongs to another delivery. The future is cancelled at most once. The cancellation
 * completes an ordinary {@link CompletableFuture} at once, even if the work behind it ignores the cancellation. So the
 * end of such a future says nothing about the work.
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
     * Stops the call: interrupts the thread if it is inside the handler, and cancels the future that continues now or
     * later.
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

    /** Returns the stack of the thread that is inside the handler; empty if none is. */
    public synchronized StackTraceElement[] stack() {
        return inside ? thread.getStackTrace() : new StackTraceElement[0];
    }

    /** Returns whether an interrupt or a cancellation reached the handler's work. */
    public synchronized boolean wasStopped() {
        return interruptedWork || cancelled;
    }

    /** Returns whether a stop was requested, even if it did not reach the work. */
    public synchronized boolean isStopRequested() {
        return stopRequested;
    }

    /** Called if the calls of the method are reported from now on. */
    public synchronized void awaitWork() {
        reportsWork = true;
    }

    /** Called before the method. Returns whether the method may be called: false after a stop. */
    public synchronized boolean beginWork() {
        if (stopRequested) {
            return false;
        }
        hasWorked = true;
        working++;
        return true;
    }

    /** Called when a call of the method has ended. */
    public synchronized void endWork() {
        working--;
    }

    /**
     * Called if a failure prevents the call of the method. Advice may return a result for other failures, but not for
     * this one.
     */
    public synchronized void refuse(Exception failure) {
        refusal = failure;
    }

    /**
     * Returns the failure for which the only call of the method was refused; {@code null} if there is none, or the
     * method was called.
     */
    public synchronized @Nullable Exception refusal() {
        return hasWorked ? null : refusal;
    }

    /** Returns whether the method was called, or may have been. */
    public synchronized boolean hasWorked() {
        return hasWorked || !reportsWork;
    }

    /** Leaves the handler, and clears our interrupt if the handler did not notice it. */
    @Override
    public synchronized void close() {
        inside = false;
        if (interrupted) {
            Thread.interrupted();
        }
    }

    /**
     * Called when the handler's method returned a future of its work.
     *
     * @param returned completes when the work ends
     * @param cancellations runs the cancellation, which calls back the code that waits for the future
     * @param ended is called with the result or the failure, on any thread that completes the future
     * @return completes after {@code ended} was called; fails with its exception
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
     * Called if nothing can cancel the work or detect its end. Returns the reason as a cancellation, which the work may
     * have ignored.
     */
    public synchronized CancellationException cancelled(Throwable why) {
        cancelled = true;
        CancellationException unknown = new CancellationException("The handler's stage cannot become a future: " + why);
        unknown.initCause(why);
        return unknown;
    }

    /** Returns whether the work may continue although its future failed, because the engine cancelled the future. */
    public synchronized boolean mayStillRun(Throwable failure) {
        return cancelled && failure instanceof CancellationException;
    }

    /** Cancels the future on another thread, because the thread that stops this delivery renews others. */
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
