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
 * Runs the engine's work on threads of Spring Cloud AWS, the SDK, the store or a timer. The work handles ordinary
 * failures itself. Anything that escapes from the work is a crash, for example an {@link Error} of the virtual machine.
 *
 * <p>The engine treats a crash like a killed process. The crash is logged once, and its deliveries are abandoned: their
 * renewal stops, their claims are not released, and their messages are not deleted. When visibility timeout and lease
 * have expired, the messages are redelivered, and their next attempts are in doubt. Only the container's permits are
 * released here, because permits never expire.
 *
 * <p>The engine catches every {@link Throwable} here and at three other places only: the call of a handler or
 * reconciler, the result serializer, and the observers.
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

    /** Runs one tick of a periodic task. A crash is logged and ends this tick only. No delivery is abandoned. */
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
     * Runs work on deliveries, or on calls for which other threads wait. This method throws nothing, and allocates
     * nothing itself. A caller that must not end, such as the loop of a thread, should create {@code work} once and
     * before the loop, because a crash for lack of memory would also prevent its creation.
     *
     * @param entry names the entry, or the delivery, in the log. Its text is made only for a crash
     * @param crashed the cleanup, which releases permits and abandons deliveries. It runs after the crash is logged. If
     *     the cleanup fails, it is repeated, up to 50 runs in total
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
     * @param entry names the entry in the log
     * @param work takes the future's value, or its failure without a surrounding {@code CompletionException}
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
     * Ends a chain of steps. Each step handles the failures that it expects, so a failure of the chain is a crash.
     *
     * @param entry names the entry in the log
     * @param crashed the cleanup, as for {@link #guard(Object, Runnable, Consumer)}
     * @return a future that never fails. It completes after the chain, or, if the chain failed, after the cleanup
     */
    public static CompletableFuture<Void> endChain(
            Object entry, CompletableFuture<Void> chain, Consumer<Throwable> crashed) {
        return chain.exceptionally(failure -> {
            cleanUpAfter(entry, Causes.unwrap(failure), crashed);
            return null;
        });
    }

    /**
     * Detaches work for which nothing waits. The work must handle expected failures itself, because any failure of the
     * work is logged and counts as a crash.
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

    /** Returns the time since the last crash. The time has no meaning if {@link #crashes} returns 0. */
    public static Duration sinceLastCrash() {
        return Duration.ofNanos(System.nanoTime() - lastCrash);
    }

    /**
     * Logs a crash. Logging can fail, for example for lack of memory. Then the crash is counted, and {@link
     * #logUnlogged} logs the count later.
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
     * Returns the exception that may be logged for a crash. An error that application code throws, such as that of a
     * converter, may quote a sender's content, so its messages are removed. The JVM's own errors keep their messages,
     * because these name classes and sizes, which an operator needs for the fix.
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

    /**
     * Logs the number of crashes that could not be logged or cleaned up when they happened, for example for lack of
     * memory.
     */
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
