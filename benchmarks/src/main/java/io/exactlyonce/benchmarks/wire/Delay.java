package io.exactlyonce.benchmarks.wire;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds threads up without keeping a core busy, and records for how long it really did. The kernel wakes a parked thread late
 * (by 50 us and more, Linux's default timer slack); how late is learnt, and asked for less. A thread that is woken a little
 * too early, by less than {@link #TOLERANCE}, goes on: to park once more would make it later than that.
 */
public final class Delay {

    private static final long TOLERANCE = 30_000;

    /** What a busy machine adds is no matter of the timer. */
    private static final long MOST_OVERSLEEP = 200_000;

    /** Weight of what was learnt before. */
    private static final int MEMORY = 16;

    private final NanoClock clock;
    private final Parker parker;
    private final Histogram given = new Histogram();
    private volatile long nanos;

    /** Threads may overwrite what another one learnt: any of it is good. */
    private final AtomicLong oversleepNanos = new AtomicLong();

    /** How a thread waits; as {@link LockSupport#parkNanos(long)}. */
    interface Parker {
        void park(long nanos);
    }

    /** Of no length yet, on this machine's clock. */
    public Delay() {
        this(System::nanoTime, LockSupport::parkNanos);
    }

    Delay(NanoClock clock, Parker parker) {
        this.clock = clock;
        this.parker = parker;
    }

    /** Changes how long threads are held up from now on, and forgets what was recorded. */
    public void set(Duration length) {
        nanos = length.toNanos();
        given.clear();
    }

    /** Returns how long threads were really held up. */
    public Histogram given() {
        return given;
    }

    /** Returns the time, for {@link #holdUp(long)}. */
    long now() {
        return clock.nanoTime();
    }

    /**
     * Waits.
     *
     * @param since when the wait began, by {@link #now()}
     */
    void holdUp(long since) {
        long length = nanos;
        if (length == 0) {
            return;
        }
        for (long left = since + length - now(); left > TOLERANCE; left = since + length - now()) {
            park(Math.max(1, left - oversleepNanos.get()));
        }
        given.add(now() - since);
    }

    private void park(long asked) {
        long before = now();
        parker.park(asked);
        long oversleep = now() - before - asked;
        // Otherwise it was woken for no reason.
        if (oversleep >= 0) {
            long learnt = oversleepNanos.get();
            oversleepNanos.set(learnt + (Math.min(oversleep, MOST_OVERSLEEP) - learnt) / MEMORY);
        }
    }
}
