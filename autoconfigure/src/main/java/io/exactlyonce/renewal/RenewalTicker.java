package io.exactlyonce.renewal;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clockwork of a {@link RenewalSupervisor}: one thread that looks ten times a second for what is due, a tenth of the
 * shortest interval between renewals.
 */
public final class RenewalTicker implements AutoCloseable {

    /** Time between two looks. */
    static final Duration TICK = RenewalSchedule.SHORTEST_INTERVAL.dividedBy(10);

    private static final Logger log = LoggerFactory.getLogger(RenewalTicker.class);

    private final RenewalSupervisor supervisor;
    private final ScheduledExecutorService thread;

    /**
     * @param supervisor whose {@link RenewalSupervisor#tick()} to call
     * @param threads makes the thread
     */
    public RenewalTicker(RenewalSupervisor supervisor, ThreadFactory threads) {
        this.supervisor = supervisor;
        supervisor.begin();
        this.thread = Executors.newSingleThreadScheduledExecutor(threads);
        var unused = thread.scheduleWithFixedDelay(this::tick, TICK.toMillis(), TICK.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void tick() {
        try {
            supervisor.tick();
        } catch (RuntimeException | Error failure) {
            // An exception would silently end the schedule, and with it all renewals.
            log.error("Looking for due renewals failed; the next look follows in {}", TICK, failure);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
