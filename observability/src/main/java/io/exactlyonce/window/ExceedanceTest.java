package io.exactlyonce.window;

/**
 * Tests whether the share of deliveries beyond a bound has grown significantly: over an hour, six hours and a day, with
 * decaying weights. Not thread-safe.
 */
final class ExceedanceTest {

    private static final double[] MEMORY_SECONDS = {3_600, 6 * 3_600, 24 * 3_600};
    private static final int HOUR = 0;
    private static final int SIX_HOURS = 1;
    private static final int DAY = 2;

    /** Minimum log-likelihood ratio of a significant rise: by chance once in a million checks. */
    private static final double CERTAIN = 14;

    /** Half a delivery of ten: before much is known, each twentieth delivery may have been beyond the bound. */
    private static final double PRIOR = 0.5;

    private static final double PRIOR_TOTAL = 10;
    private static final double LEAST = 0.0003;

    private final double[] totals = new double[MEMORY_SECONDS.length];
    private final double[] beyond = new double[MEMORY_SECONDS.length];
    private int run;

    /**
     * Records a delivery.
     *
     * @param elapsedSeconds since the one before it
     * @param isBeyond whether it took longer than the bound
     */
    void note(double elapsedSeconds, boolean isBeyond) {
        for (int i = 0; i < totals.length; i++) {
            double kept = Math.exp(-elapsedSeconds / MEMORY_SECONDS[i]);
            totals[i] = totals[i] * kept + 1;
            beyond[i] = beyond[i] * kept + (isBeyond ? 1 : 0);
        }
        run = isBeyond ? run + 1 : 0;
    }

    /** Returns the share of the last hour. */
    double ofHour() {
        return totals[HOUR] == 0 ? 0 : beyond[HOUR] / totals[HOUR];
    }

    /** Returns the share of the last six hours. */
    double ofSixHours() {
        return totals[SIX_HOURS] == 0 ? 0 : beyond[SIX_HOURS] / totals[SIX_HOURS];
    }

    /** Returns the share that was usual over the last day, without recent deliveries. */
    private double usual(double deliveries, double slow) {
        double total = Math.max(0, totals[DAY] - deliveries);
        return Math.max(LEAST, (Math.max(0, beyond[DAY] - slow) + PRIOR) / (total + PRIOR_TOTAL));
    }

    /**
     * Returns whether more than a bound is beyond what chance would do to a share as large as usual, or as large as the bound.
     *
     * @param deliveries recent ones
     * @param slow how many of these were beyond
     */
    boolean isMoreThan(double bound, double deliveries, double slow) {
        double expected = Math.min(bound, usual(deliveries, slow));
        return -run * Math.log(expected) >= CERTAIN
                || evidence(slow, deliveries, expected) >= CERTAIN
                || shows(HOUR, expected)
                || shows(SIX_HOURS, expected);
    }

    /** Returns whether recent deliveries alone are too many for the usual share. */
    boolean isUnusual(double deliveries, double slow) {
        return evidence(slow, deliveries, usual(deliveries, slow)) >= CERTAIN;
    }

    /** Returns whether the share of the last hours is larger than the usual one. */
    boolean grows() {
        return shows(HOUR, usual(totals[HOUR], beyond[HOUR]))
                || shows(SIX_HOURS, usual(totals[SIX_HOURS], beyond[SIX_HOURS]));
    }

    private boolean shows(int memory, double expected) {
        return evidence(beyond[memory], totals[memory], expected) >= CERTAIN;
    }

    /** By Poisson's law; nothing speaks for a larger share where it is smaller. */
    private static double evidence(double slow, double deliveries, double expectedShare) {
        double expected = deliveries * expectedShare;
        return slow <= expected ? 0 : slow * Math.log(slow / expected) - (slow - expected);
    }
}
