package io.exactlyonce.renewal;

import io.exactlyonce.time.Clockwork;
import java.time.Duration;

/**
 * Has a {@link RenewalSupervisor} look ten times a second for what is due, a tenth of the shortest interval between renewals.
 */
public final class RenewalTicker implements AutoCloseable {

    /** Time between two looks. */
    static final Duration TICK = RenewalSchedule.SHORTEST_INTERVAL.dividedBy(10);

    private final Clockwork.Ticks ticks;

    /**
     * Begins.
     *
     * @param supervisor whose {@link RenewalSupervisor#tick()} to call
     * @param clockwork calls it
     * @param thread names the thread
     */
    public RenewalTicker(RenewalSupervisor supervisor, Clockwork clockwork, String thread) {
        supervisor.begin();
        this.ticks = clockwork.every(TICK, thread, supervisor::tick);
    }

    @Override
    public void close() {
        ticks.close();
    }
}
