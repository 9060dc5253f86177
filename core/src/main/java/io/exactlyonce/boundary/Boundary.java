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
 * The entry of threads of Spring Cloud AWS, the SDK, the store or a timer into the engine. Ordinary faults are handled
 * inside. Anything that escapes is a crash, such as an {@link Error} of the virtual machine, and is treated like a
 * killed process: it is logged once, and its deliveries are abandoned. Their renewal stops, nothing is released,
 * nothing is deleted; visibility timeout and lease expire, and the next attempt is in doubt. Permits of a container
 * never expire, so only they are released here.
 *
 * <p>The engine catches everything here and at three other places only: the call of a handler or reconciler, the result
 * serializer, and the observers.
 */
public final class Boundary {

    private static final Logger log = LoggerFactory.getLogger(Boundary.class);

    /** The most attempts to clean up after a crash. Between attempts, other work may free memory. */
    private static final int MOST_CLEANUPS = 50;

    private static final long BETWEEN_CLEANUPS_MILLIS = 20;

    private static final AtomicInteger CRASHES = new AtomicInteger();
    private static final AtomicInteger UNLOGGED = new AtomicInteger();
    private static volatile long lastCrash;

    private Boundary() {}

    /** Does the work of one run of a periodic task. A crash is logged and costs this run only: nothing is abandoned. */
    public static void guardPeriodic(String task, Runnable work) {
        try {
            work.run();
        } catch (Throwable crash) {
            crashed();
            tellOfPeriodic(task, crash);
        }
    }

    /** Does the work of one task. A crash is logged, and ends this task only. */
    public static void guard(String entry, Runnable work) {
        guard(entry, work, crash -> {});
    }

    /**
     * Does work on deliveries, or on calls that others wait for. Throws nothing and allocates nothing itself. A caller
     * that must not end, such as the loop of a thread, creates {@code work} only once.
     *
     * @param entry names the entry, or the delivery, in the log; its text is made only for a crash
     * @param crashed releases permits, and abandons deliveries; runs after the crash is logged, and again if it
     *     crashes itself
     */
    public static void guard(Object entry, Runnable work, Consumer<Throwable> crashed) {
        try {
            work.run();
        } catch (Throwable crash) {
            cleanUpAfter(entry, crash, crashed);
        }
    }

    /**
     * Does work when a future completes, on the thread that completes it. If the future is already complete, this
     * thread does the work.
     *
     * @param entry names the entry in the log
     * @param work takes the value, or the failure without the exceptions of futures
     * @param crashed as for {@link #guard(Object, Runnable, Consumer)}
     */
    @SuppressWarnings("FutureReturnValueIgnored") // Nothing can fail in the continuation that is not cleaned up.
    public static <T extends @Nullable Object> void whenComplete(
            Object entry,
            CompletionStage<T> stage,
            BiConsumer<? super @Nullable T, ? super @Nullable Throwable> work,
            Consumer<Throwable> crashed) {
        stage.whenComplete((value, failure) ->
                guard(entry, () -> work.accept(value, failure == null ? null : Causes.unwrap(failure)), crashed));
    }

    /**
     * Ends a chain of steps. Each step handles the failures that it expects, so a failure of the chain is a crash.
     *
     * @param entry names the entry in the log
     * @param crashed as for {@link #guard(Object, Runnable, Consumer)}
     * @return a future that never fails; completes after the chain, or after the cleanup
     */
    public static CompletableFuture<Void> endChain(
            Object entry, CompletableFuture<Void> chain, Consumer<Throwable> crashed) {
        return chain.exceptionally(failure -> {
            cleanUpAfter(entry, Causes.unwrap(failure), crashed);
            return null;
        });
    }

    /**
     * Detaches work for which nothing waits. The work must handle expected failures itself: any failure is logged, and
     * counts as a crash.
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

    /** Returns how often work has crashed since the JVM's start. */
    public static int crashes() {
        return CRASHES.get();
    }

    /** Returns the time since the last crash, if there was one. */
    public static Duration sinceLastCrash() {
        return Duration.ofNanos(System.nanoTime() - lastCrash);
    }

    /**
     * Logs a crash. Logging needs memory: a crash that cannot be logged is counted, and {@link #logUnlogged} logs the
     * count later.
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
     * Returns what a log may show of a crash. An error that application code throws, such as a converter's, may quote a
     * sender's content. The JVM's own errors name classes and sizes, which the remedy needs.
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

    /** Logs that there were crashes which could not be logged when they happened, for example for lack of memory. */
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
