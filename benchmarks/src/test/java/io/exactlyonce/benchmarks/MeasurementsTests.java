package io.exactlyonce.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeasurementsTests {

    private final List<String> turns = new ArrayList<>();
    private final Contestant ours = contestant("ours", 999, 30, 100, 20);
    private final Contestant theirs = contestant("theirs", 999, 10, 10, 10);

    @Test
    void contestantsTakeTurnsAfterTheirWarmUp() throws Exception {
        Measurements.of(List.of(ours, theirs), new Plan(3, Duration.ofMillis(1), Duration.ofSeconds(1)));

        assertThat(turns)
                .containsExactly(
                        "ours PT0.001S",
                        "theirs PT0.001S",
                        "ours PT1S",
                        "theirs PT1S",
                        "ours PT1S",
                        "theirs PT1S",
                        "ours PT1S",
                        "theirs PT1S");
    }

    @Test
    void ratioIsTheMedianOfTheRounds() throws Exception {
        Measurements measured =
                Measurements.of(List.of(ours, theirs), new Plan(3, Duration.ofMillis(1), Duration.ofSeconds(1)));

        assertThat(measured.ratio(ours, theirs)).isEqualTo(3);
        assertThat(measured.toString())
                .contains("ours")
                .contains("30")
                .contains("20")
                .contains("100");
    }

    @Test
    void medianOfAnEvenNumberIsBetweenTheTwoInTheMiddle() {
        assertThat(Measurements.median(List.of(4.0, 1.0, 2.0, 8.0))).isEqualTo(3);
    }

    private Contestant contestant(String name, double... rates) {
        return new Contestant() {
            private int turn;

            @Override
            public String name() {
                return name;
            }

            @Override
            public double run(Duration length) {
                turns.add(name + " " + length);
                return rates[turn++];
            }
        };
    }
}
