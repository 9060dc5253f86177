package io.exactlyonce.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How much a scenario measures.
 *
 * @param rounds turns of each contestant
 * @param warmUp of each contestant, not counted
 * @param turn of each contestant in each round
 */
public record Plan(int rounds, Turn warmUp, Turn turn) {

    /** Proves that the benchmarks work, and no more. */
    public static final Plan SHORT =
            new Plan(1, new Turn(Duration.ofMillis(500), 300), new Turn(Duration.ofSeconds(1), 1_000));

    /** Good for ratios. */
    public static final Plan FULL = new Plan(
            Integer.getInteger("bench.rounds", 5),
            new Turn(Duration.ofSeconds(8), Integer.getInteger("bench.warm-up", 60_000)),
            new Turn(Duration.ofSeconds(5), Integer.getInteger("bench.messages", 20_000)));

    static Plan ofSystemProperty() {
        return System.getProperty("bench.short") == null ? FULL : SHORT;
    }

    /** Returns how many messages listeners may have at a time, one after the other. */
    public List<Integer> concurrencies() {
        if (isShort()) {
            return List.of(100);
        }
        String wanted = System.getProperty("bench.concurrency", "100,10");
        return Stream.of(wanted.split(",")).map(Integer::valueOf).toList();
    }

    /** Returns whether this proves no more than that the benchmarks work. */
    public boolean isShort() {
        return equals(SHORT);
    }
}
