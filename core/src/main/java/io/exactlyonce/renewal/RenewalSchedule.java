package io.exactlyonce.renewal;

import java.time.Duration;

/**
 * Computes when visibility timeouts and leases are renewed, and when a failed renewal is repeated. Has no side effects.
 *
 * @param enabled whether visibility timeouts and leases are renewed; if not, they expire
 * @param at when to renew, as a fraction of the visibility timeout's or lease's length, from 0.1 to 0.8. With the
 *     default of 0.5, half of the time is left to repeat failed renewals
 * @param jitter how much earlier a renewal may come, as a fraction of the interval, from 0 to 0.5. A random part of
 *     this time is used, so that deliveries that were received together renew at different times
 */
public record RenewalSchedule(boolean enabled, double at, double jitter) {

    /** The smallest value of {@code at}. */
    public static final double EARLIEST = 0.1;

    public static final double LATEST = 0.8;

    /**
     * The shortest interval between renewals. But a visibility timeout or lease of less than two seconds is renewed
     * after half of its length.
     */
    static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(1);

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(100);

    public RenewalSchedule {
        requireWithin("at", at, EARLIEST, LATEST);
        requireWithin("jitter", jitter, 0, 0.5);
    }

    /** Makes a schedule that renews. */
    public RenewalSchedule(double at, double jitter) {
        this(true, at, jitter);
    }

    /** Returns the interval between renewals without jitter. Jitter can only shorten it. */
    public Duration longestInterval(Duration length) {
        return interval(length, 0);
    }

    /**
     * Returns the time until the next renewal, counted from the start or from the last renewal.
     *
     * @param length the length of the visibility timeout or lease
     * @param random a number from 0 inclusive to 1 exclusive, which stays the same for all renewals of one visibility
     *     timeout or lease
     */
    Duration interval(Duration length, double random) {
        long wanted = (long) (length.toNanos() * at * (1 - jitter * random));
        long atLeast = Math.min(SHORTEST_INTERVAL.toNanos(), length.toNanos() / 2);
        return Duration.ofNanos(Math.max(wanted, atLeast));
    }

    /**
     * Returns how long to wait before a failed renewal is repeated: about a third of the time that is left, but at
     * least 0.1 s. So the attempts become more frequent towards the end.
     *
     * @param left the time until the visibility timeout or lease ends
     * @param random a number from 0 inclusive to 1 exclusive
     */
    Duration retryAfter(Duration left, double random) {
        Duration third = Duration.ofNanos((long) (left.toNanos() / 3.0 * (1 - jitter * random)));
        return third.compareTo(SHORTEST_PAUSE) > 0 ? third : SHORTEST_PAUSE;
    }

    private static void requireWithin(String name, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException("%s (%s) must be from %s to %s".formatted(name, value, least, most));
        }
    }
}
