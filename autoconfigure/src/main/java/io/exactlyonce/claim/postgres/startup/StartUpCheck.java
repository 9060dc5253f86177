package io.exactlyonce.claim.postgres.startup;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ReflectionUtils;

/**
 * A check that is made beside the rest of the application's start, once, on a thread of its own. What depends on it awaits
 * it and gets its failure, the same for all; it is not tried again: what fails by chance must not pass by chance. A failure
 * that nothing awaits yet is logged: containers that start by hand may be hours away.
 */
final class StartUpCheck implements AutoCloseable {

    static final String THREAD = "exactly-once-start";

    /** The database's replies come within this time, or never. */
    private static final Duration LONGEST_STOP = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(StartUpCheck.class);

    private final FutureTask<@Nullable Void> check;
    private final Thread thread;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicInteger awaiting = new AtomicInteger();

    StartUpCheck(Runnable check) {
        this.check = new FutureTask<>(() -> make(check), null);
        this.thread = new Thread(this.check, THREAD);
        // An application that gives up its start does not wait for a database.
        thread.setDaemon(true);
    }

    private void make(Runnable made) {
        try {
            made.run();
        } catch (RuntimeException failure) {
            if (awaiting.get() == 0 && !check.isCancelled()) {
                log.error("No listener can start: {}", failure.getMessage());
            }
            throw failure;
        }
    }

    /** Begins, unless that has happened. */
    void begin() {
        if (begun.compareAndSet(false, true)) {
            thread.start();
        }
    }

    /** Waits until the check has passed; throws what it has thrown, the same for every caller, if it has not. */
    void await() {
        awaiting.incrementAndGet();
        begin();
        try {
            check.get();
        } catch (ExecutionException failed) {
            ReflectionUtils.rethrowRuntimeException(failed.getCause());
        } catch (CancellationException closed) {
            throw new IllegalStateException("The application was closed before its start-up check had ended", closed);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted before the start-up check had ended", hurry);
        }
    }

    /**
     * Breaks the check off if it is under way, and waits until it uses nothing any more. What takes longer ends with its
     * connection.
     */
    @Override
    public void close() {
        check.cancel(true);
        try {
            thread.join(LONGEST_STOP.toMillis());
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }
}
