package io.exactlyonce.chaos.soak;

import java.util.List;

/**
 * The change of a worker's gauge over a run. The first quarter is for warming up. The rule is: <b>a gauge is flat if
 * its median over the last quarter is at most its median over the second quarter, plus the gauge's bound</b>. The
 * middles of these two quarters are half a run apart. A steady leak is therefore detected if it exceeds the bound in
 * half a run, and single samples do not matter.
 *
 * @param before median of the second quarter
 * @param after median of the last quarter
 */
public record Growth(Gauge gauge, long before, long after) {

    /** The fewest samples that can be judged. */
    public static final int FEWEST = 40;

    /**
     * Compares the quarters.
     *
     * @param values the values in the order of their measurement
     * @throws IllegalArgumentException if there are fewer values than {@link #FEWEST}
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

    /** Returns whether the growth is at most the gauge's bound. */
    public boolean isFlat() {
        return after <= before + gauge.bound();
    }

    @Override
    public String toString() {
        return "%s=%d->%d%s".formatted(gauge, before, after, isFlat() ? "" : " GROWS");
    }
}
