package io.exactlyonce.claim.backend;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks that claims can be stored, before the first container polls. The check starts with the first container, after
 * the application's database migrations. The check runs in parallel with startup, while containers look up their
 * queues. In an application without exactly-once listeners, no check runs, and the store is not called.
 *
 * <p>One check runs at a time, on its own thread. All callers that come during the check get its result. A check that
 * passed is not repeated. A failed check is repeated for the next caller.
 */
public final class ReadinessCheck implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ReadinessCheck.class);

    /**
     * The longest wait for a running check when the application closes, in milliseconds. A reply that takes longer is
     * not expected any more.
     */
    private static final long LONGEST_CLOSE = 5_000;

    private final Runnable lookUp;
    private final Runnable check;
    private volatile Future<?> latest = CompletableFuture.completedFuture(null);
    private volatile boolean passed;
    private volatile boolean awaited;
    private volatile boolean closed;
    private @Nullable Thread thread;

    /**
     * @param lookUp looks for the store, and throws if there is none. Runs on the caller's thread, because a lookup may
     *     create beans
     * @param check throws if claims cannot be stored
     */
    public ReadinessCheck(Runnable lookUp, Runnable check) {
        this.lookUp = lookUp;
        this.check = check;
    }

    /** Starts a check, and does not wait for its end. Does nothing while a check runs, and after a check has passed. */
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
     * Logs a failure at ERROR if no container has waited for a check yet. The container that will report the failure
     * may start hours later.
     */
    private RuntimeException reported(RuntimeException failure) {
        if (!awaited && !closed) {
            log.error("No listener can start: {}", failure.getMessage());
        }
        return failure;
    }

    /** Waits until a check has shown that claims can be stored. Throws the failure if claims cannot be stored. */
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
     * Returns whether a check has passed. The answer stays false in an application without listeners, because no check
     * runs.
     */
    public boolean hasPassed() {
        return passed;
    }

    /**
     * Interrupts a running check, and waits up to 5 s for its end, because the caller closes the check's connections
     * next. A check that takes longer ends when its connection is closed.
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
