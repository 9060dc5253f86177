package io.exactlyonce.sample.lab;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The time at which the run must end. Every wait of the lab ends at this time. */
public final class Deadline {

    private static final Duration POLL = Duration.ofMillis(200);

    private final long endNanos;

    private Deadline(long endNanos) {
        this.endNanos = endNanos;
    }

    /** Returns the deadline after this time. */
    public static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos());
    }

    /** Returns the earlier of this deadline and the deadline after the given time. */
    Deadline orIn(Duration time) {
        Deadline other = in(time);
        return other.endNanos - endNanos < 0 ? other : this;
    }

    long remainingMillis() {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime()));
    }

    boolean hasPassed() {
        return endNanos - System.nanoTime() <= 0;
    }

    /**
     * Checks a condition repeatedly.
     *
     * @return whether the condition held before the deadline
     */
    public boolean waitUntil(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            if (hasPassed()) {
                return false;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
        return true;
    }
}
