package io.exactlyonce.test.interleaving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The message for a contributor when an interleaving breaks a rule. */
class SeedsTests {

    private static final Consumer<List<Integer>> THREE_BEFORE_SEVENTEEN = steps -> {
        if (steps.contains(3) && steps.lastIndexOf(17) > steps.indexOf(3)) {
            throw new AssertionError("broken: 17 comes after 3");
        }
    };

    @Test
    void failureIsReportedWithExactlyTheStepsThatItTakes() {
        assertThatThrownBy(() -> new Seeds(5, 1).check(random -> range(40), THREE_BEFORE_SEVENTEEN))
                .isInstanceOf(AssertionError.class)
                .hasMessage("""
                        broken: 17 comes after 3
                        2 of its 40 steps break a rule:
                          3
                          17
                        Repeat it with -Dinterleaving.seed=5""");
    }

    @Test
    void failureWithoutAnyStepIsReported() {
        assertThatThrownBy(() -> new Seeds(5, 1).check(random -> range(7), steps -> {
                    throw new AssertionError("broken: always");
                }))
                .hasMessageStartingWith("broken: always\n0 of its 7 steps break a rule:\nRepeat");
    }

    @Test
    void seedThatIsPrintedRepeatsItsSequence() {
        AssertionError first = catchThrowableOfType(
                AssertionError.class, () -> new Seeds(0, 1_000).check(SeedsTests::any, THREE_BEFORE_SEVENTEEN));
        Matcher told = Pattern.compile("-Dinterleaving.seed=(\\d+)").matcher(first.getMessage());
        assertThat(told.find()).isTrue();

        assertThatThrownBy(() -> repeating(told.group(1), THREE_BEFORE_SEVENTEEN))
                .hasMessage(first.getMessage());
    }

    @Test
    void everySeedIsTriedAndMakesAnotherSequence() {
        List<List<Step>> tried = new ArrayList<>();

        Seeds.ofEachRun(100).check(Step::interleaving, tried::add);

        assertThat(tried).hasSize(100);
        assertThat(tried.stream().filter(steps -> steps.size() > 1))
                .hasSizeGreaterThan(90)
                .doesNotHaveDuplicates();
    }

    private static void repeating(String seed, Consumer<List<Integer>> check) {
        System.setProperty("interleaving.seed", seed);
        try {
            Seeds.ofThisRun(1_000).check(SeedsTests::any, check);
        } finally {
            System.clearProperty("interleaving.seed");
        }
    }

    private static List<Integer> any(RandomGenerator random) {
        return random.ints(10, 0, 20).boxed().toList();
    }

    private static List<Integer> range(int end) {
        return IntStream.range(0, end).boxed().toList();
    }
}
