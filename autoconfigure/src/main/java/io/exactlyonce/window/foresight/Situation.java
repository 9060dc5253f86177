package io.exactlyonce.window.foresight;

import java.util.Optional;

/**
 * What warnings are judged by.
 *
 * @param window in seconds
 * @param near share of deliveries that took more than 80 % of the window
 * @param beyond share of those that outlasted it
 */
record Situation(double window, RecentDeliveries recent, Share near, Share beyond, Climb climb) {

    /** p95 is beyond a bound if more than this share is. */
    private static final double FIVE_PERCENT = 0.05;

    /** A climb counts as one to the window if it gets there within this time. */
    private static final double HOURS_AHEAD = 2 * 3_600;

    private static final double MINUTES_AHEAD = 12 * 60;
    private static final double LONGEST_AHEAD = 3_600;

    /** Where deliveries are few, p95 is one of twenty, and known so much later. */
    private static final double DELIVERIES_AHEAD = 30;

    /** Half of what makes p95 outlast the window. */
    private static final double MANY_STRAYS = FIVE_PERCENT / 2;

    /** Strays that come at one moment are an accident, not a growth. */
    private static final int CHUNKS_OF_STRAYS = 5;

    double utilization() {
        return recent.p95() / window;
    }

    boolean isBreached() {
        return utilization() > 1
                && (isHeadingThere() || beyond.isMoreThan(FIVE_PERCENT, recent.total(), recent.beyond()));
    }

    boolean isNear() {
        return utilization() > WindowForesight.NEAR
                && (isHeadingThere() || near.isMoreThan(FIVE_PERCENT, recent.total(), recent.near()));
    }

    private boolean isHeadingThere() {
        return climb.soonest() < HOURS_AHEAD;
    }

    boolean isBreachAhead() {
        double between = RecentDeliveries.SECONDS / recent.total();
        double ahead = Math.min(LONGEST_AHEAD, Math.max(MINUTES_AHEAD, DELIVERIES_AHEAD * between));
        boolean isClimbing = climb.secondsToFirst() < ahead && climb.soonest() < 4 * ahead;
        return isClimbing || isStraysGrowing();
    }

    /** p95 leaps where a slow mode grows to a twentieth of the deliveries: the share tells before. */
    private boolean isStraysGrowing() {
        boolean now = recent.beyond() > MANY_STRAYS * recent.total()
                && recent.chunksBeyond() >= CHUNKS_OF_STRAYS
                && beyond.isUnusual(recent.total(), recent.beyond());
        boolean lately = Math.max(beyond.ofHour(), beyond.ofSixHours()) > MANY_STRAYS && beyond.grows();
        return now || lately;
    }

    WindowWarning warning(WindowWarning.Kind kind) {
        return new WindowWarning(
                kind,
                WindowForesight.duration(recent.p95()),
                WindowForesight.duration(window),
                climb.perSecond() > 0
                        ? Optional.of(WindowForesight.duration(climb.secondsToBreach()))
                        : Optional.empty(),
                beyond.ofHour());
    }
}
