package io.exactlyonce.benchmarks.load;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Repeats turns on a busy machine, a few times at most.
 *
 * @param busyPercent a machine is busy if other programs use more than this share of it
 * @param repeats how often a turn is repeated
 */
public record RepeatRule(double busyPercent, int repeats) {

    /** Takes each turn once, even on a busy machine. */
    public static final RepeatRule NEVER = new RepeatRule(100, 0);

    /** Checks the values. */
    public RepeatRule {
        if (busyPercent < 0 || repeats < 0) {
            throw new IllegalArgumentException(
                    "bench.busy-percent (%s) and bench.repeats (%d) must not be negative; leave them out for 10 and 2"
                            .formatted(busyPercent, repeats));
        }
    }

    /** Returns the rule of {@code -Dbench.busy-percent} and {@code -Dbench.repeats}. */
    public static RepeatRule ofSystemProperties() {
        return new RepeatRule(
                Double.parseDouble(System.getProperty("bench.busy-percent", "10")),
                Integer.getInteger("bench.repeats", 2));
    }

    /**
     * A turn, and the machine's load during the turn.
     *
     * @param reading the result of the turn
     * @param elsewherePercent the share of the machine that other programs used; NaN if unknown
     */
    public record Attempt<T>(T reading, double elsewherePercent) {}

    /**
     * All attempts at one turn.
     *
     * @param all the attempts in order; only the last one can have run on a quiet machine
     */
    public record Attempts<T>(List<Attempt<T>> all) {

        /** Returns the attempt that counts: the one with the least load from other programs. */
        public Attempt<T> counted() {
            return all.stream()
                    .min(Comparator.comparingDouble(Attempt::elsewherePercent))
                    .orElseThrow();
        }

        /** Returns the load from other programs in each attempt. Attempts that do not count are in brackets. */
        public String loads() {
            int counted = all.indexOf(counted());
            return IntStream.range(0, all.size())
                    .mapToObj(attempt -> (attempt == counted ? "%.0f" : "(%.0f)")
                            .formatted(all.get(attempt).elsewherePercent()))
                    .collect(Collectors.joining(" "));
        }
    }

    /** Takes a turn on this machine. */
    public <T> Attempts<T> take(Callable<T> turn) throws Exception {
        return take(turn, LoadSample::now);
    }

    <T> Attempts<T> take(Callable<T> turn, Supplier<LoadSample> samples) throws Exception {
        List<Attempt<T>> attempts = new ArrayList<>();
        Attempt<T> last;
        do {
            LoadSample before = samples.get();
            T reading = turn.call();
            last = new Attempt<>(reading, samples.get().elsewherePercentSince(before));
            attempts.add(last);
        } while (last.elsewherePercent() > busyPercent && attempts.size() <= repeats);
        return new Attempts<>(attempts);
    }
}
