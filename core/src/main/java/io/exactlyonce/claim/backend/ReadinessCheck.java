package io.exactlyonce.claim.backend;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks before the first container polls that claims can be stored. The check starts with the first container, after
 * the application's database migrations. It runs in parallel with startup, while containers look up their queues.
 * Without exactly-once listeners the store is not called.
 *
 * <p>One check runs at a time, on its own thread, and all callers meanwhile get its result. A check that passed is not
 * repeated. A failed check is repeated for the next caller.
 */
public final class ReadinessCheck implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ReadinessCheck.class);

    /** Longest wait for a running check at the close, in milliseconds. Replies arrive within this time, or never. */
    private static final long LONGEST_CLOSE = 5_000;

    private final Runnable lookUp;
    private final Runnable check;
    private volatile Future<?> latest = CompletableFuture.completedFuture(null);
    private volatile boolean passed;
    private volatile boolean awaited;
    private volatile boolean closed;
    private @Nullable Thread thread;

    /**
     * @param lookUp looks for the store on the caller's thread, because that may create beans; throws if there is
     *     none
     * @param check throws if claims cannot be stored
     */
    public ReadinessCheck(Runnable lookUp, Runnable check) {
        this.lookUp = lookUp;
        this.check = check;
    }

    /** Starts a check, unless one has passed or is running. Does not wait. */
    public synchronized void begin() {
        if (!latest.isDone() || passed) {
            return;
        }
        latest = closed
                ? CompletableFuture.failedFuture(new IllegalStateException("The application is closed"))
                : started();
    }

    private Future<?> started() {
        try {
            lookUp.run();
        } catch (RuntimeException impossible) {
            return CompletableFuture.failedFuture(reported(impossible));
        }
        FutureTask<?> task = new FutureTask<>(this::run, null);
        thread = new Thread(task, "exactly-once-start-1");
        // A failed startup does not wait for the store.
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private void run() {
        try {
            check.run();
            passed = true;
        } catch (RuntimeException failure) {
            throw reported(failure);
        }
    }

    /** Logs the failure, because the container that reports it may start hours later. */
    private RuntimeException reported(RuntimeException failure) {
        if (!awaited && !closed) {
            log.error("No listener can start: {}", failure.getMessage());
        }
        return failure;
    }

    /** Waits until claims can be stored, or throws why they cannot. */
    public void require() {
        awaited = true;
        try {
            begin();
            latest.get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while it was checked whether claims can be kept", hurry);
        }
    }

    /** Returns whether a check has passed. Without listeners, nothing is checked. */
    public boolean hasPassed() {
        return passed;
    }

    /**
     * Cancels a running check and waits for its end, because its connections are closed next. A check that takes longer
     * ends when its connection is closed.
     */
    @Override
    public void close() {
        Thread checking;
        synchronized (this) {
            closed = true;
            checking = thread;
        }
        if (checking == null) {
            return;
        }
        checking.interrupt();
        try {
            checking.join(LONGEST_CLOSE);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }
}
