package io.exactlyonce.claim.backend;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks at startup that the store can keep claims, before the first listener container polls its queue. The first
 * container starts the check. Containers start after the application's database migrations, so the check sees the
 * migrated database. Without exactly-once listeners, no check runs, and the store is not called.
 *
 * <p>Only one check runs at a time, on its own thread, and all callers that wait get its result. If the check fails,
 * the next caller starts another one. If it passes, it is not repeated.
 */
public final class ReadinessCheck implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ReadinessCheck.class);

    /** Limit of the wait for a running check when the application closes, in milliseconds. */
    private static final long LONGEST_CLOSE = 5_000;

    private final Runnable lookUp;
    private final Runnable check;
    private volatile Future<?> latest = CompletableFuture.completedFuture(null);
    private volatile boolean passed;
    private volatile boolean awaited;
    private volatile boolean closed;
    private @Nullable Thread thread;

    /**
     * @param lookUp throws if there is no store. Runs on the caller's thread, because it may create beans
     * @param check throws if claims cannot be stored
     */
    public ReadinessCheck(Runnable lookUp, Runnable check) {
        this.lookUp = lookUp;
        this.check = check;
    }

    /** Starts a check in the background. Does nothing if a check is running or has already passed. */
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
        // The thread is a daemon, so that a JVM whose startup failed exits without waiting for the store.
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

    /**
     * Logs the failure at ERROR if no container waits for the check. A container that waits reports the failure itself.
     */
    private RuntimeException reported(RuntimeException failure) {
        if (!awaited && !closed) {
            log.error("No listener can start: {}", failure.getMessage());
        }
        return failure;
    }

    /** Waits for a check. Throws the check's exception if claims cannot be stored. */
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

    /**
     * Returns whether a check has passed. Stays false in an application without listeners, because no check runs there.
     */
    public boolean hasPassed() {
        return passed;
    }

    /**
     * Interrupts a running check, and waits up to 5 s until it ends. If the check ignores the interrupt, it goes on
     * until the application closes the store's connections.
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
