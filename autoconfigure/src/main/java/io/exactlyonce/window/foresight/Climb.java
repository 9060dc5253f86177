package io.exactlyonce.window.foresight;

/**
 * A growth of latency that is no chance.
 *
 * @param perSecond as a part of the latency; 0 if there is none
 * @param secondsToBreach until p95 reaches the window; infinite if there is none
 */
record Climb(double perSecond, double secondsToBreach) {

    static final Climb NONE = new Climb(0, Double.POSITIVE_INFINITY);

    Climb sooner(Trend trend, double level, double bound) {
        double seconds = trend.secondsUntil(bound, level);
        return seconds < secondsToBreach ? new Climb(trend.perSecond(), seconds) : this;
    }
}
