package io.exactlyonce.renewal;

import java.time.Duration;

/**
 * When to renew, and when to try again. Pure arithmetic.
 *
 * @param enabled whether anything is renewed at all; if not, windows and leases last for their length, once
 * @param at the part of a window after which it is renewed, from 0.05 to 0.9; half of it by default, so that a
 *     renewal that fails leaves as much time again for further attempts
 * @param jitter the part of that interval by which each delivery renews earlier, from 0 to 0.5, so that deliveries
 *     received together are not renewed in one burst for ever
 * @param retries how often a failed attempt is repeated before the renewal counts as lost, from 1 to 10
 */
public record RenewalSchedule(boolean enabled, double at, double jitter, int retries) {

    /** No delivery is renewed more often than this, except where its window is shorter than twice of it. */
    static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(1);

    /** The part of the headroom after which no retry begins, so that the last one can still be answered in time. */
    private static final double LAST_RETRY = 0.9;

    public RenewalSchedule {
        requireWithin("at", at, 0.05, 0.9);
        requireWithin("jitter", jitter, 0, 0.5);
        requireWithin("retries", retries, 1, 10);
    }

    /** Makes a schedule that renews. */
    public RenewalSchedule(double at, double jitter, int retries) {
        this(true, at, jitter, retries);
    }

    /** Returns the longest time between two renewals of a window or lease of a length. */
    public Duration longestInterval(Duration length) {
        return interval(length, 0);
    }

    /**
     * Returns how long after the start of a window, or of its last renewal, the next renewal is due.
     *
     * @param length the window's or lease's length
     * @param random from 0 inclusive to 1 exclusive, the same for all renewals of a delivery
     */
    Duration interval(Duration length, double random) {
        long wanted = (long) (length.toNanos() * at * (1 - jitter * random));
        long atLeast = Math.min(SHORTEST_INTERVAL.toNanos(), length.toNanos() / 2);
        return Duration.ofNanos(Math.max(wanted, atLeast));
    }

    /**
     * Returns when the next attempt follows after a failed one. The retries share nine tenths of the headroom: each has a
     * part twice as long as the one before, and comes at a random moment of it. The last one comes in the later half of
     * its part, so that they are not used up long before the headroom is: an outage that is over by then costs nothing.
     *
     * @param failures how many attempts in a row have failed, from 1 to {@code retries}
     * @param headroom time from the first failure until the window or lease ends
     * @param random from 0 inclusive to 1 exclusive
     * @return time from the first failure, within the headroom
     */
    Duration retryAfter(int failures, Duration headroom, double random) {
        double parts = Math.pow(2, retries) - 1;
        double part = Math.pow(2, failures - 1);
        double share = failures == retries ? (1 + random) / 2 : random;
        double after = headroom.toNanos() * LAST_RETRY * (part - 1 + part * share) / parts;
        return Duration.ofNanos((long) Math.max(0, after));
    }

    private static void requireWithin(String name, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException("%s (%s) must be from %s to %s".formatted(name, value, least, most));
        }
    }
}
