package io.exactlyonce.test.fuzz;

import io.exactlyonce.test.interleaving.Seeds;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Hostile input from seeds. Each build uses the same few seeds. If {@code -Dfuzz.seconds=...} is set, each test uses
 * other seeds for that time. The report of a failed seed has the inputs that are needed for the failure. {@code
 * -Dfuzz.seed=...} repeats one seed, or is the first seed if {@code -Dfuzz.seconds} is set.
 */
public final class Fuzz {

    private static final String SEED = "fuzz.seed";
    private static final long SECONDS = Long.getLong("fuzz.seconds", 0);

    private Fuzz() {}

    /**
     * Checks lists of inputs. Any exception of the check is a failure.
     *
     * @param seeds the number of seeds in each build
     * @param inputs makes a list
     * @param check fails for a list that breaks a rule; then called again with parts of the list
     */
    public static <T> void check(int seeds, Function<RandomGenerator, List<T>> inputs, Consumer<List<T>> check) {
        Long repeated = Long.getLong(SEED);
        if (SECONDS > 0) {
            runFor(SECONDS, repeated == null ? new SplittableRandom().nextLong() : repeated, inputs, check);
        } else if (repeated != null) {
            run(repeated, 1, inputs, check);
        } else {
            run(0, seeds, inputs, check);
        }
    }

    private static <T> void runFor(
            long seconds, long first, Function<RandomGenerator, List<T>> inputs, Consumer<List<T>> check) {
        System.out.printf("Fuzzing for %d s from -D%s=%d on%n", seconds, SEED, first);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        long seed = first;
        while (System.nanoTime() - end < 0) {
            run(seed++, 1, inputs, check);
        }
        System.out.printf("%d seeds kept all rules%n", seed - first);
    }

    private static <T> void run(
            long first, int count, Function<RandomGenerator, List<T>> inputs, Consumer<List<T>> check) {
        new Seeds(first, count, SEED).check(inputs, input -> {
            try {
                check.accept(input);
            } catch (RuntimeException thrown) {
                throw new AssertionError("It threw " + thrown, thrown);
            }
        });
    }
}
