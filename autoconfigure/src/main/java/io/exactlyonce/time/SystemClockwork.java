package io.exactlyonce.time;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The JVM's own time. Its threads keep no JVM alive. */
public final class SystemClockwork implements Clockwork {

    private static final Logger log = LoggerFactory.getLogger(SystemClockwork.class);

    /** Makes one; all are alike. */
    public SystemClockwork() {}

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void after(Duration delay, Runnable task) {
        SYSTEM.after(delay, task);
    }

    @Override
    public Ticks every(Duration interval, String thread, Runnable task) {
        ScheduledExecutorService ticking = Executors.newSingleThreadScheduledExecutor(daemon(thread));
        var unused = ticking.scheduleWithFixedDelay(
                () -> run(thread, task), interval.toNanos(), interval.toNanos(), TimeUnit.NANOSECONDS);
        return ticking::shutdownNow;
    }

    /** An exception would silently end the schedule; also a checked one, as Kotlin throws them. */
    private static void run(String thread, Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            log.error("{} has failed; it goes on with its next tick", thread, failure);
        }
    }

    @Override
    public ExecutorService thread(String name) {
        return Executors.newSingleThreadExecutor(daemon(name));
    }

    private static ThreadFactory daemon(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
