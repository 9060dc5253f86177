package io.exactlyonce.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeasurementsTests {

    private static final Plan PLAN =
            new Plan(3, new Turn(Duration.ofMillis(1), 1), new Turn(Duration.ofSeconds(1), 1_000));

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
    void ratioIsTheMedianOfTheRounds() throws Exception {
        Measurements measured = Measurements.of(List.of(ours, theirs), PLAN);

        assertThat(measured.ratio(ours, theirs)).isEqualTo(3);
        assertThat(measured.table("keys/s"))
                .contains("| keys/s | median | min | max |")
                .contains("| ours | 30 | 20 | 100 | 1.00 |")
                .contains("| theirs | 10 | 10 | 10 | 0.33 |");
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
            public double run(Turn turn) {
                turns.add("%s %s %d".formatted(name, turn.length(), turn.messages()));
                return rates[taken++];
            }
        };
    }
}
