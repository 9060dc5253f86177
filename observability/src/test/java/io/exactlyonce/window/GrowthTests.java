package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class GrowthTests {

    private static final double HOUR = 3_600;
    private static final double DAY = 24 * HOUR;
    private static final double DOUBLED_IN_20_MINUTES = Math.log(2) / 1_200;

    private final Growth growth = new Growth();
    private final Random random = new Random(1);
    private double now;

    /** Adds a delivery each second, and returns the largest growth that was told. */
    private double feed(double seconds, double sigma, DoubleUnaryOperator latency) {
        double most = 0;
        for (double begun = now; now < begun + seconds; now++) {
            growth.add(now, latency.applyAsDouble(now - begun) * Shape.noise(sigma, random));
            most = Math.max(most, growth.perSecond());
        }
        return most;
    }

    @Test
    void steadyLatencyDoesNotGrow() {
        assertThat(feed(3 * DAY, 0.8, t -> 5)).isZero();
    }

    @Test
    void growthIsAPartOfTheLatencyPerSecond() {
        feed(2 * HOUR, 0.3, t -> 5);
        assertThat(growth.perSecond()).isZero();

        feed(HOUR, 0.3, t -> 5 * Math.exp(DOUBLED_IN_20_MINUTES * t));

        assertThat(growth.perSecond()).isCloseTo(DOUBLED_IN_20_MINUTES, Percentage.withPercentage(15));
    }

    @Test
    void slowGrowthIsSeenByLongerMemories() {
        feed(6 * HOUR, 0.5, t -> 5);
        feed(6 * HOUR, 0.5, t -> 5 * Math.exp(DOUBLED_IN_20_MINUTES / 12 * t));

        assertThat(growth.perSecond()).isCloseTo(DOUBLED_IN_20_MINUTES / 12, Percentage.withPercentage(50));
    }

    @Test
    void whatStandsStillOrFallsGrowsNoMore() {
        feed(2 * HOUR, 0.3, t -> 5);
        feed(HOUR, 0.3, t -> 5 * Math.exp(DOUBLED_IN_20_MINUTES * t));
        feed(2 * DAY, 0.3, t -> 40);
        assertThat(growth.perSecond()).isZero();

        assertThat(feed(HOUR, 0.3, t -> 40 * Math.exp(-DOUBLED_IN_20_MINUTES * t)))
                .isZero();
    }

    @Test
    void straysThatAreNoMoreOftenAreNoGrowth() {
        assertThat(feed(3 * DAY, 0.2, t -> random.nextInt(100) == 0 ? 600 : 5)).isZero();
    }

    @Test
    void dailyWaveIsUsualAfterADay() {
        DoubleUnaryOperator wave = t -> 10 + 4 * Math.sin(2 * Math.PI * t / DAY);
        assertThat(feed(DAY, 0.2, wave)).isPositive();

        feed(DAY, 0.2, wave);

        assertThat(feed(3 * DAY, 0.2, wave)).isZero();
    }

    @Test
    void fewDeliveriesShowNothing() {
        feed(7, 0, t -> 5 * Math.pow(2, t));

        assertThat(growth.perSecond()).isZero();
    }

    @Test
    void silenceLeavesNothingToCompare() {
        feed(2 * HOUR, 0.3, t -> 5);
        feed(HOUR, 0.3, t -> 5 * Math.exp(DOUBLED_IN_20_MINUTES * t));
        assertThat(growth.perSecond()).isPositive();
        now += 10 * DAY;

        assertThat(feed(60, 0.3, t -> 40)).isZero();
    }
}
