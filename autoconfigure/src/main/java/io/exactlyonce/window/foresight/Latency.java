package io.exactlyonce.window.foresight;

/**
 * How a listener's latency goes: what is recent, what was usual, and where its middle and its tail are heading. Not
 * thread-safe.
 */
final class Latency {

    /** Fewest deliveries that a point of the trend of medians is made of. */
    private static final int FEWEST_OF_MEDIAN = 1;

    /** Fewest of a point of the trend of 95th percentiles. */
    private static final int FEWEST_OF_TAIL = 20;

    private static final double HALF_LIFE_SECONDS = 6 * 3_600;

    /** Most of the window that noise may take from the way that is left to it. */
    private static final double MOST_NOISE = 0.35;

    private final RecentDeliveries recent = new RecentDeliveries();
    private final LatencyCounts usual = new LatencyCounts();
    private final Points medians = new Points(FEWEST_OF_MEDIAN, 0.5);
    private final Points tails = new Points(FEWEST_OF_TAIL, 0.95);
    private double halvedAt;

    /** Gathers deliveries until there are enough for a percentile, which is a point of a series. */
    private static final class Points {
        final TrendSeries series = new TrendSeries();
        final LatencyCounts gathered = new LatencyCounts();
        final int fewest;
        final double part;
        double timeSum;
        double size;

        Points(int fewest, double part) {
            this.fewest = fewest;
            this.part = part;
        }

        void add(double now, double meanTime, LatencyCounts counts) {
            gathered.add(counts);
            timeSum += meanTime * counts.total();
            if (gathered.total() >= fewest) {
                size = gathered.total();
                series.add(now, timeSum / gathered.total(), gathered.quantile(part));
                gathered.clear();
                timeSum = 0;
            }
        }
    }

    /**
     * Adds the deliveries of a time that has just ended.
     *
     * @param now in seconds
     * @param meanTime of the deliveries, in seconds
     * @param near how many took more than 80 % of the window
     * @param beyond how many outlasted the window
     */
    void add(double now, double meanTime, LatencyCounts counts, int near, int beyond) {
        recent.add(now, counts, near, beyond);
        usual.add(counts);
        if (now - halvedAt >= HALF_LIFE_SECONDS) {
            usual.halve();
            halvedAt = now;
        }
        medians.add(now, meanTime, counts);
        tails.add(now, meanTime, counts);
    }

    RecentDeliveries recent() {
        return recent;
    }

    LatencyCounts usual() {
        return usual;
    }

    /** As a part of it: a point of the trend has fewer deliveries than p95 of five minutes, or as many. */
    private double noiseOfP95() {
        return tails.series.noise() * Math.sqrt(Math.min(1, tails.size / Math.max(1, recent.total())));
    }

    /**
     * Returns how p95 climbs, by all lines that do.
     *
     * @param window in seconds
     */
    Climb climb(double window) {
        double p95 = recent.p95();
        double bound = window * (1 - Math.min(MOST_NOISE, 2 * noiseOfP95()));
        Climb climb = Climb.NONE;
        Trend latest = Trend.UNKNOWN;
        for (int i = medians.series.scales() - 1; i >= 0; i--) {
            Trend median = medians.series.trend(i);
            Trend tail = tails.series.trend(i);
            if (median.grows() && tail.agreesWith(median)) {
                climb = climb.and(median, p95, window, bound);
            }
            if (tail.grows()) {
                climb = climb.and(tail, tail.level(), window, bound);
            }
            latest = median.isSteep() ? median : latest;
        }
        return climb.at(latest, p95, window);
    }
}
