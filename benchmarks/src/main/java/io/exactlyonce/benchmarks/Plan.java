package io.exactlyonce.benchmarks;

import java.time.Duration;

/**
 * How long a scenario measures.
 *
 * @param rounds turns of each contestant
 * @param warmUp of each contestant, not counted
 * @param turn of each contestant in each round
 */
public record Plan(int rounds, Duration warmUp, Duration turn) {

    /** Proves that the benchmarks work, and no more. */
    public static final Plan SHORT = new Plan(1, Duration.ofMillis(500), Duration.ofSeconds(1));

    /** Good for ratios. */
    public static final Plan FULL = new Plan(7, Duration.ofSeconds(8), Duration.ofSeconds(5));

    static Plan ofSystemProperty() {
        return System.getProperty("bench.short") == null ? FULL : SHORT;
    }
}
