package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LatencyHistogramTests {

    private final LatencyHistogram histogram = new LatencyHistogram();

    @Test
    void quantileIsOffByThreePercentAtMost() {
        for (int i = 1; i <= 1_000; i++) {
            histogram.add(i * 0.1);
        }

        assertThat(histogram.quantiles(0, 0.5, 0.95, 1))
                .containsExactly(new double[] {0.1, 50, 95, 100}, Offset.offset(1.5));
        assertThat(histogram.quantiles(0.5)[0]).isCloseTo(50, Percentage.withPercentage(3));
        assertThat(histogram.quantiles(0.95)[0]).isCloseTo(95, Percentage.withPercentage(3));
        assertThat(new LatencyHistogram().quantiles(0.95)).containsExactly(0);
    }

    @ParameterizedTest
    @CsvSource({"0, 4", "10, 2", "30, 2", "31, 1", "70000, 0"})
    void latenciesAboveABoundAreCounted(double bound, double above) {
        for (double latency : new double[] {0.0001, 5, 30.1, 100_000}) {
            histogram.add(latency);
        }

        assertThat(histogram.above(bound)).isEqualTo(above);
    }

    @Test
    void whatIsTakenAwayIsGone() {
        LatencyHistogram other = new LatencyHistogram();
        other.add(60);
        histogram.add(5);
        histogram.add(60);
        assertThat(histogram.above(30)).isEqualTo(1);

        histogram.subtract(other);

        assertThat(histogram.total()).isEqualTo(1);
        assertThat(histogram.above(30)).isZero();
    }
}
