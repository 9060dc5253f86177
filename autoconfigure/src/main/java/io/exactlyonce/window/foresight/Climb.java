package io.exactlyonce.window.foresight;

/**
 * A growth of latency that is no chance.
 *
 * @param perSecond as a part of the latency, by what was seen last; 0 if there is none
 * @param secondsToBreach until p95 reaches the window at that rate; infinite if there is none
 * @param soonest until p95 reaches the window by the steepest line on any scale of time
 * @param secondsToFirst until p95, which goes up and down, may first be beyond it by that line
 */
record Climb(double perSecond, double secondsToBreach, double soonest, double secondsToFirst) {

    static final Climb NONE =
            new Climb(0, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

    /** Returns the steeper one of this climb and a line. */
    Climb and(Trend trend, double level, double window, double bound) {
        double seconds = trend.secondsUntil(window, level);
        return seconds < soonest
                ? new Climb(trend.perSecond(), seconds, seconds, trend.secondsUntil(bound, level))
                : this;
    }

    /** Returns this climb with the rate of a line that saw less of the past; a coarse line is behind, or ahead, of a bend. */
    Climb at(Trend latest, double level, double window) {
        return perSecond > 0 && latest.isSteep()
                ? new Climb(latest.perSecond(), latest.secondsUntil(window, level), soonest, secondsToFirst)
                : this;
    }
}
