package io.exactlyonce.boundary;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps crashes of the library's own code away from the threads of Spring Cloud AWS, the SDK, the store and timers. A
 * crash is any {@link Throwable} that this code does not handle itself, for example an {@link Error} of the JVM.
 *
 * <p>A crash has the consequences of a killed process. The crash is logged once, and its deliveries are abandoned:
 * their renewal stops, their claims are not released, and their messages are not deleted. When visibility timeout and
 * lease have expired, the messages are redelivered, and their next attempts are in doubt. Only the container's permits
 * are released, because permits never expire.
 *
 * <p>Elsewhere, {@link Throwable} is caught only around code that may throw anything: handlers, reconcilers, actions,
 * observers and the result serializer.
 */
public final class Boundary {

    private static final Logger log = LoggerFactory.getLogger(Boundary.class);

    /**
     * The cleanup after a crash may fail for lack of memory. It is tried up to 50 times, because other code may free
     * memory meanwhile.
     */
    private static final int MOST_CLEANUPS = 50;

    private static final long BETWEEN_CLEANUPS_MILLIS = 20;

    private static final AtomicInteger CRASHES = new AtomicInteger();
    private static final AtomicInteger UNLOGGED = new AtomicInteger();
    private static volatile long lastCrash;

    private Boundary() {}

    /**
     * Runs a periodic task once. If the task crashes, the crash is logged, and the task runs again at its next
     * interval. Deliveries are not affected.
     */
    public static void guardPeriodic(String task, Runnable work) {
        try {
            work.run();
        } catch (Throwable crash) {
            crashed();
            tellOfPeriodic(task, crash);
        }
    }

    /** Runs one task. A crash is logged and ends this task only. */
    public static void guard(String entry, Runnable work) {
        guard(entry, work, crash -> {});
    }

    /**
     * Runs work, and cleans up if the work crashes. Otherwise permits would stay taken, and callers would wait forever.
     * This method throws nothing, and allocates no memory itself.
     *
     * <p>A thread that must never end should create the object {@code work} once, before its loop. If the loop created
     * it each time, a lack of memory could end the thread.
     *
     * @param entry names the work in the log; its {@code toString()} is called only after a crash
     * @param crashed the cleanup, which releases permits and abandons deliveries. It runs after the crash is logged.
     *     While it fails, it is repeated, up to 50 tries in total
     */
    public static void guard(Object entry, Runnable work, Consumer<Throwable> crashed) {
        try {
            work.run();
        } catch (Throwable crash) {
            cleanUpAfter(entry, crash, crashed);
        }
    }

    /**
     * Runs work when a future completes, on the thread that completes the future. If the future is already complete,
     * the calling thread runs the work.
     *
     * @param entry names the work in the log
     * @param work gets the future's value, or its failure without a surrounding {@code CompletionException}
     * @param crashed the cleanup, as for {@link #guard(Object, Runnable, Consumer)}
     */
    @SuppressWarnings("FutureReturnValueIgnored") // The guard cleans up after each failure of the work.
    public static <T extends @Nullable Object> void whenComplete(
            Object entry,
            CompletionStage<T> stage,
            BiConsumer<? super @Nullable T, ? super @Nullable Throwable> work,
            Consumer<Throwable> crashed) {
        stage.whenComplete((value, failure) ->
                guard(entry, () -> work.accept(value, failure == null ? null : Causes.unwrap(failure)), crashed));
    }

    /**
     * Ends a chain of asynchronous steps, and cleans up if it failed. Each step handles the failures that it expects,
     * so a failure of the whole chain is a crash.
     *
     * @param entry names the chain in the log
     * @param crashed the cleanup, as for {@link #guard(Object, Runnable, Consumer)}
     * @return a future that never fails. It completes after the chain, or after the cleanup if the chain failed
     */
    public static CompletableFuture<Void> endChain(
            Object entry, CompletableFuture<Void> chain, Consumer<Throwable> crashed) {
        return chain.exceptionally(failure -> {
            cleanUpAfter(entry, Causes.unwrap(failure), crashed);
            return null;
        });
    }

    /**
     * Logs the failure of work for which no caller waits, and counts it as a crash. The work itself must handle the
     * failures that it expects.
     *
     * @param entry names the work in the log
     */
    public static void detach(String entry, CompletionStage<?> work) {
        work.whenComplete((done, failure) -> {
            if (failure != null) {
                crashed();
                tellOfDetached(entry, failure);
            }
        });
    }

    private static void crashed() {
        lastCrash = System.nanoTime();
        CRASHES.incrementAndGet();
    }

    /** Returns how many crashes were caught since the JVM's start. */
    public static int crashes() {
        return CRASHES.get();
    }

    /** Returns the time since the last crash. Meaningless if there was no crash. */
    public static Duration sinceLastCrash() {
        return Duration.ofNanos(System.nanoTime() - lastCrash);
    }

    /**
     * Logs a crash. If logging fails too (for example for lack of memory), {@link #logUnlogged} later logs how many
     * crashes are missing from the log.
     */
    private static void logCrash(Object entry, Throwable crash) {
        try {
            log.error(
                    "{} crashed; its deliveries are abandoned until visibility timeout and lease expire",
                    entry,
                    printable(crash));
        } catch (Throwable unlogged) {
            UNLOGGED.incrementAndGet();
        }
    }

    /**
     * Returns the exception to log for a crash. Errors of application code (such as a converter) lose their messages,
     * because these may quote a sender's content. Errors of the JVM keep their messages, because an operator needs the
     * classes and sizes in them.
     */
    private static @Nullable Throwable printable(Throwable crash) {
        boolean isOfTheJvm = crash instanceof VirtualMachineError || crash instanceof LinkageError;
        return crash instanceof Error && !isOfTheJvm ? RedactedException.of(crash) : PrintableException.of(crash);
    }

    private static void tellOfPeriodic(String task, Throwable crash) {
        try {
            log.error("{} failed; it runs again at its next interval", task, PrintableException.of(crash));
        } catch (Throwable unlogged) {
            UNLOGGED.incrementAndGet();
        }
    }

    private static void tellOfDetached(String entry, Throwable failure) {
        try {
            log.error("{} failed, and is not repeated", entry, PrintableException.of(failure));
        } catch (Throwable unlogged) {
            UNLOGGED.incrementAndGet();
        }
    }

    private static void cleanUpAfter(Object entry, Throwable crash, Consumer<Throwable> crashed) {
        crashed();
        logCrash(entry, crash);
        cleanUp(crash, crashed);
    }

    private static void cleanUp(Throwable crash, Consumer<Throwable> crashed) {
        for (int cleanup = 0; cleanup < MOST_CLEANUPS; cleanup++) {
            try {
                crashed.accept(crash);
                return;
            } catch (Throwable again) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(BETWEEN_CLEANUPS_MILLIS));
            }
        }
        UNLOGGED.incrementAndGet();
    }

    /** Logs how many crashes could not be logged or cleaned up when they happened, for example for lack of memory. */
    public static void logUnlogged() {
        int untold = UNLOGGED.get();
        if (untold > 0) {
            log.error(
                    "{} crashes could not be logged or cleaned up when they happened, probably for want of memory; their deliveries are"
                            + " abandoned until visibility timeout and lease expire",
                    untold);
            UNLOGGED.addAndGet(-untold);
        }
    }

    /**
     * Notifies observers. If an observer throws, the other observers are still notified, and the observed work
     * continues.
     */
    public static <O> void notifySafely(List<O> observers, Consumer<? super O> event) {
        for (O observer : observers) {
            try {
                event.accept(observer);
            } catch (RuntimeException failure) {
                log.warn(
                        "{} failed; the observed work continues",
                        observer.getClass().getName(),
                        PrintableException.of(failure));
            }
        }
    }
}
