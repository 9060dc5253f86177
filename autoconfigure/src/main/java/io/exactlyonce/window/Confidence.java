package io.exactlyonce.window;

/** How far advice on a window can be trusted, by the number of deliveries that it is made of. */
public enum Confidence {
    /** There is nothing to go by. */
    NONE,
    /** The percentile is one of the longest deliveries seen, or nearly so. */
    LOW,
    /** The percentile is known to within some ten or twenty percent. */
    MEDIUM,
    /** More deliveries would hardly change it. */
    HIGH;

    private static final long MEDIAN_KNOWN = 20;
    private static final long TAIL_KNOWN = 200;
    private static final long WELL_KNOWN = 10;

    static Confidence of(WindowRule rule, long deliveries) {
        long enough = rule == WindowRule.RENEWED ? MEDIAN_KNOWN : TAIL_KNOWN;
        if (deliveries >= WELL_KNOWN * enough) {
            return HIGH;
        }
        if (deliveries >= enough) {
            return MEDIUM;
        }
        return deliveries > 0 ? LOW : NONE;
    }
}
