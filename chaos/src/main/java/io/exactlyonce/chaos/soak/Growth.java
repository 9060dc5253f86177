package io.exactlyonce.chaos.soak;

import java.util.List;

/**
 * How a gauge of a worker changed over a run. The first quarter is left for warming up. The rule: <b>a gauge is flat if its median
 * over the last quarter is at most its median over the second quarter, plus the gauge's bound</b>. Between the middles of the two
 * lies half of the run, so that a steady leak shows if half a run of it exceeds the bound, while single samples count for nothing.
 *
 * @param before median of the second quarter
 * @param after median of the last quarter
 */
public record Growth(Gauge gauge, long before, long after) {

    /** Fewest samples that can be judged. */
    public static final int FEWEST = 40;

    /**
     * Compares the quarters.
     *
     * @param values in the order in which they were measured
     * @throws IllegalArgumentException if they are fewer than {@link #FEWEST}
     */
    static Growth of(Gauge gauge, List<Long> values) {
        if (values.size() < FEWEST) {
            throw new IllegalArgumentException(
                    "%d samples of %s cannot be judged; %d can".formatted(values.size(), gauge, FEWEST));
        }
        return new Growth(
                gauge,
                median(values.subList(values.size() / 4, values.size() / 2)),
                median(values.subList(values.size() * 3 / 4, values.size())));
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
    }

    /** Returns whether it grew by no more than its bound. */
    public boolean isFlat() {
        return after <= before + gauge.bound();
    }

    @Override
    public String toString() {
        return "%s=%d->%d%s".formatted(gauge, before, after, isFlat() ? "" : " GROWS");
    }
}
