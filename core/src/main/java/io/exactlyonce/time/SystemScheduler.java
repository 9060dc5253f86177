package io.exactlyonce.time;

import io.exactlyonce.boundary.Boundary;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A scheduler on the JVM's clock. Its threads are daemon threads. */
public final class SystemScheduler implements EngineScheduler {

    private static final long IDLE_SECONDS = 1;

    /** Makes a scheduler. All instances are equivalent. */
    public SystemScheduler() {}

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void after(Duration delay, Runnable task) {
        CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                .execute(() -> Boundary.guard("What was due later", task));
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // A tick throws nothing.
    public PeriodicTask every(Duration interval, String thread, Runnable task) {
        ScheduledExecutorService ticking = Executors.newSingleThreadScheduledExecutor(daemon(thread));
        Runnable tick = () -> {
            Boundary.guardPeriodic(thread, task);
            Boundary.guardPeriodic(thread, Boundary::logUnlogged);
        };
        ticking.scheduleWithFixedDelay(tick, interval.toNanos(), interval.toNanos(), TimeUnit.NANOSECONDS);
        return ticking::shutdownNow;
    }

    @Override
    public Executor thread(String name) {
        return thread(name, Integer.MAX_VALUE);
    }

    /**
     * Returns an executor that runs tasks one after another, on a thread of this name. The executor rejects a task if
     * {@code mostWaiting} tasks are already waiting.
     */
    public static Executor thread(String name, int mostWaiting) {
        var thread = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(mostWaiting), daemon(name));
        thread.allowCoreThreadTimeOut(true);
        return thread;
    }

    private static ThreadFactory daemon(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
