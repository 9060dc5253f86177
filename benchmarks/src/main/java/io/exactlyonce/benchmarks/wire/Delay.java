package io.exactlyonce.benchmarks.wire;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Delays threads without keeping a core busy, and records the real delays. The kernel wakes a parked thread late, by 50
 * us and more (Linux's default timer slack). The delay measures this lateness, and parks for a shorter time. A thread
 * that wakes too early by less than {@link #TOLERANCE} continues, because parking again would make it later than that.
 */
public final class Delay {

    private static final long TOLERANCE = 30_000;

    /** A busy machine, and not the timer, causes longer oversleeping. */
    private static final long MOST_OVERSLEEP = 200_000;

    /** The weight of earlier measurements. */
    private static final int MEMORY = 16;

    private final NanoClock clock;
    private final Parker parker;
    private final Histogram given = new Histogram();
    private volatile long nanos;

    /** The measured oversleeping. Threads may overwrite each other's value, because any recent value is good. */
    private final AtomicLong oversleepNanos = new AtomicLong();

    /** Parks a thread, as {@link LockSupport#parkNanos(long)} does. */
    interface Parker {
        void park(long nanos);
    }

    /** Makes a delay of zero that uses this machine's clock. */
    public Delay() {
        this(System::nanoTime, LockSupport::parkNanos);
    }

    Delay(NanoClock clock, Parker parker) {
        this.clock = clock;
        this.parker = parker;
    }

    /** Changes the delay from now on, and forgets the recorded delays. */
    public void set(Duration length) {
        nanos = length.toNanos();
        given.clear();
    }

    /** Returns the real delays. */
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
     * @param since the start of the wait, by {@link #now()}
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
        // A negative value means that the thread woke for another reason.
        if (oversleep >= 0) {
            long learnt = oversleepNanos.get();
            oversleepNanos.set(learnt + (Math.min(oversleep, MOST_OVERSLEEP) - learnt) / MEMORY);
        }
    }
}
