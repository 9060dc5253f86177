package io.exactlyonce.claim.postgres.retention;

import io.exactlyonce.time.Jitter;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Sweeps expired claims away from time to time, on a thread of its own, while the application runs. Nothing waits for it;
 * it stops before the pool closes.
 */
public final class RetentionLifecycle implements SmartLifecycle {

    /** A batch takes milliseconds. One that hangs ends with its connection, and undone. */
    private static final Duration LONGEST_STOP = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(RetentionLifecycle.class);

    /** A sweep. */
    interface Sweep {
        void run() throws InterruptedException;
    }

    private final Sweep sweep;
    private final BooleanSupplier ready;
    private final Duration interval;
    private final Jitter random;
    private volatile @Nullable ScheduledExecutorService thread;

    /**
     * @param sweeper what deletes expired claims
     * @param ready whether there is a table: an application that claims nothing does not connect for this either
     * @param interval time between two sweeps, on average
     * @param random from 0 inclusive to 1 exclusive
     */
    public RetentionLifecycle(ClaimSweeper sweeper, BooleanSupplier ready, Duration interval, Jitter random) {
        this(sweeper::sweep, ready, interval, random);
    }

    RetentionLifecycle(Sweep sweep, BooleanSupplier ready, Duration interval, Jitter random) {
        this.sweep = sweep;
        this.ready = ready;
        this.interval = interval;
        this.random = random;
    }

    @Override
    public void start() {
        var threads = new CustomizableThreadFactory("exactly-once-retention-");
        threads.setDaemon(true);
        ScheduledExecutorService started = Executors.newSingleThreadScheduledExecutor(threads);
        thread = started;
        next(started, firstDelay(interval, random.next()));
    }

    private void next(ScheduledExecutorService executor, Duration delay) {
        try {
            var unused = executor.schedule(() -> run(executor), delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stopped) {
            log.debug("No further sweep: stopped", stopped);
        }
    }

    private void run(ScheduledExecutorService executor) {
        try {
            if (ready.getAsBoolean()) {
                sweep.run();
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error failure) {
            // An exception would silently end the schedule.
            log.error(
                    "Deleting expired claims failed; the next sweep follows within {}",
                    interval.multipliedBy(2),
                    failure);
        }
        next(executor, delay(interval, random.next()));
    }

    /** Instances that start together do not sweep together. */
    static Duration firstDelay(Duration interval, double random) {
        return part(interval, random);
    }

    /** From half the interval to one and a half of it, so that instances drift apart. */
    static Duration delay(Duration interval, double random) {
        return part(interval, 0.5 + random);
    }

    private static Duration part(Duration interval, double factor) {
        return Duration.ofNanos((long) (interval.toNanos() * factor));
    }

    @Override
    public void stop() {
        ScheduledExecutorService running = thread;
        if (running == null) {
            return;
        }
        thread = null;
        running.shutdownNow();
        try {
            if (!running.awaitTermination(LONGEST_STOP.toNanos(), TimeUnit.NANOSECONDS)) {
                log.debug("A batch of expired claims is still being deleted; the pool closes without waiting for it");
            }
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public boolean isRunning() {
        return thread != null;
    }
}
