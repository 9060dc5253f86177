package io.exactlyonce.sample.live;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * The response time of the partner: 0.6 to 0.9 s, always the same for one order, and up to five times as long while the
 * partner is slow. The partner becomes slow gradually: as in the incident, latency approaches a visibility timeout that
 * was once long enough.
 */
final class Partner {

    private static final int QUICKEST_MILLIS = 600;
    private static final int SPREAD_MILLIS = 300;
    private static final double SLOWEST = 5;

    private final Duration slowing;
    private final NanoClock clock;
    private volatile State state = new State(false, 0);

    private record State(boolean isSlow, long sinceNanos) {}

    /** @param slowing the time in which the partner reaches its slowest */
    Partner(Duration slowing, NanoClock clock) {
        this.slowing = slowing;
        this.clock = clock;
    }

    /** Makes the partner slower and slower from now on, or quick at once. */
    void setSlow(boolean slow) {
        state = new State(slow, clock.nanoTime());
    }

    boolean isSlow() {
        return state.isSlow();
    }

    Duration delay(String orderId) {
        int quick = QUICKEST_MILLIS + new SplittableRandom(orderId.hashCode()).nextInt(SPREAD_MILLIS);
        return Duration.ofMillis(Math.round(quick * factor()));
    }

    private double factor() {
        State now = state;
        double elapsed = clock.nanoTime() - now.sinceNanos();
        return now.isSlow() ? 1 + (SLOWEST - 1) * Math.min(1, elapsed / slowing.toNanos()) : 1;
    }
}
