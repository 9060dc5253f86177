package io.exactlyonce.renewal;

import java.time.Duration;

/**
 * Computes when to renew, and when to try again, without side effects.
 *
 * @param enabled whether anything is renewed; if not, visibility timeouts and leases expire after their length
 * @param at the part of a visibility timeout after which it is renewed, from 0.1 to 0.8; half of it by default, so
 *     that after a failed renewal as much time is left for further attempts
 * @param jitter the part of that interval by which each delivery renews earlier, from 0 to 0.5, so that deliveries
 *     received together are not always renewed in one burst
 */
public record RenewalSchedule(boolean enabled, double at, double jitter) {

    /** The least value of {@code at}; the property has the same bounds. */
    public static final double EARLIEST = 0.1;

    public static final double LATEST = 0.8;

    /**
     * The shortest interval between renewals of a delivery, unless its visibility timeout is shorter than two of these.
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

    /** Returns the longest time between two renewals of a visibility timeout or lease of this length. */
    public Duration longestInterval(Duration length) {
        return interval(length, 0);
    }

    /**
     * Returns how long after the start of a visibility timeout, or of its last renewal, the next renewal is due.
     *
     * @param length the length of the visibility timeout or lease
     * @param random from 0 inclusive to 1 exclusive, the same for all renewals of a delivery
     */
    Duration interval(Duration length, double random) {
        long wanted = (long) (length.toNanos() * at * (1 - jitter * random));
        long atLeast = Math.min(SHORTEST_INTERVAL.toNanos(), length.toNanos() / 2);
        return Duration.ofNanos(Math.max(wanted, atLeast));
    }

    /**
     * Returns the pause after a failed attempt: a third of the remaining time, so that attempts become more frequent
     * towards the end.
     *
     * @param left until the visibility timeout or lease ends
     * @param random from 0 inclusive to 1 exclusive
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
