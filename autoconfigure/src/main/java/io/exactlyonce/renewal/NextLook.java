package io.exactlyonce.renewal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * When spans have to be looked at next. What changes when that is announces it, so that a tick at which nothing is due
 * need not ask them all. A moment that is too early costs a look, and nothing else.
 */
final class NextLook {

    private final AtomicLong at;

    NextLook(long now) {
        this.at = new AtomicLong(now);
    }

    boolean isDue(long now) {
        return at.get() - now <= 0;
    }

    /** The next look comes at a moment, or before. */
    void notAfter(long moment) {
        long known = at.get();
        while (moment - known < 0 && !at.compareAndSet(known, moment)) {
            known = at.get();
        }
    }

    /**
     * A look is over; the next one comes a while later, unless an earlier one is announced from now on. That is short, so
     * that an error in the middle of the announcements costs no window.
     */
    void startOver(long now) {
        at.set(now + RenewalSchedule.SHORTEST_INTERVAL.toNanos());
    }
}
