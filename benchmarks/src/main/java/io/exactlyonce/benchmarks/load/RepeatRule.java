package io.exactlyonce.benchmarks.load;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A turn on a machine that is busy with something else is taken again, a few times at most.
 *
 * @param busyPercent a machine is busy if other programs use more of it
 * @param repeats how often a turn is taken again
 */
public record RepeatRule(double busyPercent, int repeats) {

    /** Takes each turn once, whatever else the machine does. */
    public static final RepeatRule NEVER = new RepeatRule(100, 0);

    /** Checks the figures. */
    public RepeatRule {
        if (busyPercent < 0 || repeats < 0) {
            throw new IllegalArgumentException(
                    "bench.busy-percent (%s) and bench.repeats (%d) must not be negative; leave them out for 10 and 2"
                            .formatted(busyPercent, repeats));
        }
    }

    /** Returns what {@code -Dbench.busy-percent} and {@code -Dbench.repeats} say. */
    public static RepeatRule ofSystemProperties() {
        return new RepeatRule(
                Double.parseDouble(System.getProperty("bench.busy-percent", "10")),
                Integer.getInteger("bench.repeats", 2));
    }

    /**
     * A turn, and how busy the machine was meanwhile.
     *
     * @param reading what it measured
     * @param elsewherePercent how much of the machine other programs used; NaN if that is unknown
     */
    public record Attempt<T>(T reading, double elsewherePercent) {}

    /**
     * All attempts at one turn.
     *
     * @param all in order; only the last one can have met a quiet machine
     */
    public record Attempts<T>(List<Attempt<T>> all) {

        /** Returns the one that counts: the one that other programs disturbed least. */
        public Attempt<T> counted() {
            return all.stream()
                    .min(Comparator.comparingDouble(Attempt::elsewherePercent))
                    .orElseThrow();
        }

        /** Returns other programs' share of the machine in each attempt, those in brackets that do not count. */
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
