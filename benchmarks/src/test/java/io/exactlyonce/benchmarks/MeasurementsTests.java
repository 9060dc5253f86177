package io.exactlyonce.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.benchmarks.load.RepeatRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeasurementsTests {

    private static final Plan PLAN = new Plan(
            Plan.Form.FULL,
            3,
            new Turn(Duration.ofMillis(1), 1),
            new Turn(Duration.ofSeconds(1), 1_000),
            RepeatRule.NEVER,
            false,
            () -> {});

    private final List<String> turns = new ArrayList<>();
    private final Contestant ours = contestant("ours", 999, 30, 100, 20);
    private final Contestant theirs = contestant("theirs", 999, 10, 10, 10);

    @Test
    void contestantsTakeTurnsAfterTheirWarmUp() throws Exception {
        Measurements.of(List.of(ours, theirs), PLAN);

        assertThat(turns)
                .containsExactly(
                        "ours PT0.001S 1",
                        "theirs PT0.001S 1",
                        "ours PT1S 1000",
                        "theirs PT1S 1000",
                        "ours PT1S 1000",
                        "theirs PT1S 1000",
                        "ours PT1S 1000",
                        "theirs PT1S 1000");
    }

    @Test
    void whatIsToBeDoneBeforeTurnsComesAfterTheLastWarmUp() throws Exception {
        Measurements.of(List.of(ours, theirs), PLAN.withBeforeTurns(() -> turns.add("begin")));

        assertThat(turns).startsWith("ours PT0.001S 1", "theirs PT0.001S 1", "begin", "ours PT1S 1000");
    }

    @Test
    void steadyContestantsHaveBecomeNoFasterInThreeTurns() throws Exception {
        Plan steady = new Plan(PLAN.form(), 1, PLAN.warmUp(), PLAN.turn(), PLAN.repeats(), true, PLAN.beforeTurns());
        Contestant rising = contestant("rising", 999, 50, 80, 100, 97, 98, 96);
        Contestant quick = contestant("quick", 999, 200, 200, 200, 200);

        Measurements measured = Measurements.of(List.of(rising, quick), steady);

        assertThat(measured.of(rising)).containsExactly(96.0);
        assertThat(measured.table("keys/s"))
                .endsWith("%nTurns until steady: rising: 50 80 100 97 98; quick: 200 200 200%n".formatted());
    }

    @Test
    void contestantThatNeverBecomesSteadyIsMeasuredAllTheSame() throws Exception {
        Plan steady = new Plan(PLAN.form(), 1, PLAN.warmUp(), PLAN.turn(), PLAN.repeats(), true, PLAN.beforeTurns());
        Contestant restless = contestant(
                "restless",
                IntStream.range(0, 27).mapToDouble(turn -> 1 + turn % 2).toArray());

        Measurements measured = Measurements.of(List.of(restless), steady);

        assertThat(measured.table("keys/s")).endsWith("2 1 2 (still differ)%n".formatted());
    }

    @Test
    void ratioIsTheMedianOfTheRounds() throws Exception {
        Measurements measured = Measurements.of(List.of(ours, theirs), PLAN);

        assertThat(measured.ratio(ours, theirs)).isEqualTo(3);
        assertThat(measured.table("keys/s"))
                .startsWith("| keys/s | median | min | max | ratio to the first | us | not done right | load from")
                .contains("| ours | 30 | 20 | 100 | 1.00 | 15 |")
                .contains("| theirs | 10 | 10 | 10 | 0.33 | 5 |");
    }

    @Test
    void furtherFiguresAreComparedRoundByRound() throws Exception {
        Measurements measured = Measurements.of(List.of(ours, theirs), PLAN);

        assertThat(measured.median(ours, "us")).isEqualTo(15);
        assertThat(measured.ratio(theirs, ours, "us")).isEqualTo(10.0 / 30);
    }

    @Test
    void rowsOfTheTableHaveAsManyCellsAsItsHead() throws Exception {
        List<String> lines = Measurements.of(List.of(ours, theirs), PLAN)
                .table("keys/s")
                .lines()
                .toList();

        assertThat(lines)
                .hasSize(4)
                .allSatisfy(
                        line -> assertThat(line.chars().filter(c -> c == '|')).hasSize(9));
    }

    @Test
    void medianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
        assertThat(Measurements.median(List.of(4.0, 1.0, 2.0, 8.0))).isEqualTo(3);
    }

    private Contestant contestant(String name, double... rates) {
        return new Contestant() {
            private int taken;

            @Override
            public String name() {
                return name;
            }

            @Override
            public Reading run(Turn turn) {
                turns.add("%s %s %d".formatted(name, turn.length(), turn.messages()));
                double rate = rates[taken++];
                return new Reading(rate, Map.of("us", rate / 2));
            }
        };
    }
}
