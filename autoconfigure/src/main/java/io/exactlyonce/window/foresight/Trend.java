package io.exactlyonce.window.foresight;

/**
 * A straight line through the logarithms of latencies.
 *
 * @param perSecond growth per second, as a part of the latency
 * @param error standard error of that growth
 * @param level the latency now, in seconds, by the line
 * @param spanSeconds time that the line covers
 * @param isClimb whether the latency grew all the time, rather than once, and no more than it did before
 */
record Trend(double perSecond, double error, double level, double spanSeconds, boolean isClimb) {

    static final Trend UNKNOWN = new Trend(0, Double.MAX_VALUE, 0, 0, false);

    /** How many standard errors a growth must have. Thousands of lines are drawn a day, and none of them may be chance. */
    private static final double CERTAIN = 6;

    boolean isKnown() {
        return spanSeconds > 0;
    }

    boolean grows() {
        return isClimb && isSteep();
    }

    /** Returns whether it goes up by more than chance, were it once or all the time. */
    boolean isSteep() {
        return perSecond >= CERTAIN * error;
    }

    /** Returns whether this one may grow as fast as a given part of another one. */
    boolean agreesWith(Trend other) {
        return !isKnown() || perSecond + 3 * error >= 0.3 * other.perSecond;
    }

    /** Returns in how many seconds a level reaches a bound, if it goes on to grow by as much per second as now. */
    double secondsUntil(double bound, double from) {
        return Math.max(0, (bound / from - 1) / perSecond);
    }
}
