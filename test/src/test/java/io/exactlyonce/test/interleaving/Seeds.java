package io.exactlyonce.test.interleaving;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive seeds, each of which makes one sequence of steps. A sequence that breaks a rule is reported with its
 * seed, and with the steps that are needed for the failure.
 *
 * @param first the first seed
 * @param count the number of seeds
 * @param property the property that selects a single seed
 */
public record Seeds(long first, int count, String property) {

    private static final String REPEATED = "interleaving.seed";

    Seeds(long first, int count) {
        this(first, count, REPEATED);
    }

    /** Returns different seeds in each run of the tests, or only the seed that a property names. */
    static Seeds ofThisRun(int count) {
        Long repeated = Long.getLong(REPEATED);
        return repeated == null ? new Seeds(new SplittableRandom().nextLong(), count) : new Seeds(repeated, 1);
    }

    /** Returns the same seeds in each run, so that the result does not depend on chance. */
    static Seeds ofEachRun(int count) {
        return new Seeds(0, count);
    }

    /** Fails at the first sequence for which the check fails. */
    public <T> void check(Function<RandomGenerator, List<T>> sequences, Consumer<List<T>> check) {
        for (long seed = first; seed - first < count; seed++) {
            List<T> steps = sequences.apply(new SplittableRandom(seed));
            AssertionError found = failure(check, steps);
            if (found != null) {
                List<T> fewest = Shrinking.fewest(steps, fewer -> failure(check, fewer) != null);
                throw new AssertionError(describe(seed, found, steps, fewest), found);
            }
        }
    }

    private <T> String describe(long seed, AssertionError found, List<T> steps, List<T> fewest) {
        StringBuilder told = new StringBuilder(String.valueOf(found.getMessage()));
        told.append("%n%d of its %d steps break a rule:".formatted(fewest.size(), steps.size()));
        fewest.forEach(step -> told.append("%n  %s".formatted(step)));
        return told.append("%nRepeat it with -D%s=%d".formatted(property, seed)).toString();
    }

    private static <T> @Nullable AssertionError failure(Consumer<List<T>> check, List<T> steps) {
        try {
            check.accept(steps);
            return null;
        } catch (AssertionError found) {
            return found;
        }
    }

    /** Drops steps from sequences. */
    private static final class Shrinking {

        private Shrinking() {}

        /**
         * Removes halves, quarters and so on down to single steps, as long as the check still fails. Returns the
         * remaining steps.
         */
        static <T> List<T> fewest(List<T> steps, Predicate<List<T>> fails) {
            List<T> left = steps;
            int size = Math.max(1, left.size() / 2);
            while (true) {
                List<T> before = left;
                for (int end = left.size(); end > 0; end -= size) {
                    List<T> fewer = without(left, Math.max(0, end - size), end);
                    left = fails.test(fewer) ? fewer : left;
                }
                if (size == 1 && left.size() == before.size()) {
                    return left;
                }
                size = Math.max(1, size / 2);
            }
        }

        private static <T> List<T> without(List<T> steps, int from, int to) {
            return Stream.concat(steps.subList(0, from).stream(), steps.subList(to, steps.size()).stream())
                    .toList();
        }
    }
}
