package io.exactlyonce.benchmarks.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class HistogramTests {

    private final Histogram histogram = new Histogram();

    @Test
    void quantilesAreInTheMiddleOfTheirStep() {
        LongStream.rangeClosed(1, 100).forEach(i -> histogram.add(i * 100_000));

        assertThat(histogram.count()).isEqualTo(100);
        assertThat(histogram.micros(0.5)).isEqualTo(5_005);
        assertThat(histogram.micros(0.99)).isEqualTo(9_905);
    }

    @Test
    void whatIsTooLongCountsAsTheLongest() {
        histogram.add(Long.MAX_VALUE);

        assertThat(histogram.micros(0.5)).isEqualTo(100_005);
    }
}
