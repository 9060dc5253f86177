package io.exactlyonce.sample.live;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.SplittableRandom;

/**
 * How long the partner takes to answer: 0.6 to 0.9 s, always the same for an order, and up to five times as long while it is
 * slow. It does not become slow at once: as in the incident, latency creeps up on a window that was once long enough.
 */
final class Partner {

    private static final int QUICKEST_MILLIS = 600;
    private static final int SPREAD_MILLIS = 300;
    private static final double SLOWEST = 5;

    private final Duration slowing;
    private final NanoClock clock;
    private volatile State state = new State(false, 0);

    private record State(boolean isSlow, long sinceNanos) {}

    /** @param slowing how long it takes to become as slow as it gets */
    Partner(Duration slowing, NanoClock clock) {
        this.slowing = slowing;
        this.clock = clock;
    }

    /** Has it become slower and slower from now on, or be as quick as it was at once. */
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
