package io.exactlyonce.chaos.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Flat series, which the rule accepts, and leaking series, which it rejects. */
class GrowthTests {

    private static final int SAMPLES = 360;
    private static final long BASE = 50_000;

    private static boolean isFlat(Gauge gauge, LongUnaryOperator value) {
        List<Long> values = LongStream.range(0, SAMPLES).map(value).boxed().toList();
        return Growth.of(gauge, values).isFlat();
    }

    @ParameterizedTest
    @EnumSource
    void noiseIsFlat(Gauge gauge) {
        Random random = new Random(1);

        assertThat(isFlat(gauge, at -> BASE + random.nextInt((int) (2 * gauge.bound()))))
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void steadyLeakOfMoreThanItsBoundInHalfARunIsNot(Gauge gauge) {
        assertThat(isFlat(gauge, at -> BASE + at * 3 * gauge.bound() / SAMPLES)).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void leakInNoiseIsNot(Gauge gauge) {
        Random random = new Random(2);

        assertThat(isFlat(gauge, at -> BASE + at * 4 * gauge.bound() / SAMPLES + random.nextLong(gauge.bound())))
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void leakOfWhatIsCollectedNowAndThenButNeverWhollyIsNot(Gauge gauge) {
        assertThat(isFlat(gauge, at -> BASE + at * 3 * gauge.bound() / SAMPLES + (at % 10)))
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void stepThatStaysIsNot(Gauge gauge) {
        assertThat(isFlat(gauge, at -> at < SAMPLES * 2 / 3 ? BASE : BASE + gauge.bound() + 1))
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void leakThatBeginsInTheSecondHalfIsNot(Gauge gauge) {
        assertThat(isFlat(gauge, at -> BASE + Math.max(0, at - SAMPLES / 2) * 6 * gauge.bound() / SAMPLES))
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void growthThatEndsWithTheFirstQuarterIsFlat(Gauge gauge) {
        assertThat(isFlat(gauge, at -> BASE + Math.min(at, SAMPLES / 4) * gauge.bound()))
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void singlePeaksAreFlat(Gauge gauge) {
        assertThat(isFlat(gauge, at -> at % 7 == 0 ? 2 * BASE : BASE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void whatShrinksIsFlat(Gauge gauge) {
        assertThat(isFlat(gauge, at -> BASE - at)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void boundItselfIsFlatAndOneMoreIsNot(Gauge gauge) {
        assertThat(isFlat(gauge, at -> at < SAMPLES / 2 ? BASE : BASE + gauge.bound()))
                .isTrue();
        assertThat(isFlat(gauge, at -> at < SAMPLES / 2 ? BASE : BASE + gauge.bound() + 1))
                .isFalse();
    }

    @Test
    void leakOf160BytesAMessageShowsInAnHourAt15MessagesASecond() {
        long bytesPerSample = 160 * 15 * 10;

        assertThat(isFlat(Gauge.HEAP_KIB, at -> BASE + at * bytesPerSample / 1_024))
                .isFalse();
    }

    @Test
    void threadThatIsLeftBehindEveryFourMinutesShowsInAnHour() {
        assertThat(isFlat(Gauge.THREADS, at -> 90 + at / 24)).isFalse();
    }

    @Test
    void fewSamplesAreNotJudged() {
        List<Long> few = LongStream.range(1, Growth.FEWEST).boxed().toList();

        assertThatIllegalArgumentException().isThrownBy(() -> Growth.of(Gauge.THREADS, few));
    }
}
