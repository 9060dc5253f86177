package io.exactlyonce.dynamodb.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.dynamodb.clock.ServiceClock.State;
import io.exactlyonce.dynamodb.testing.FakeClock;
import io.exactlyonce.dynamodb.testing.FakeService;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceClockTests {

    private static final Duration ERROR = Duration.ofSeconds(2);
    private static final Duration ROUND_TRIP = Duration.ofMillis(20);

    private final FakeClock clock = new FakeClock();
    private final ServiceClock measured = new ServiceClock(clock, ERROR);
    private final FakeService service = new FakeService(clock, measured);

    @Test
    void nothingIsKnownBeforeTheFirstAnswer() {
        assertThat(measured.now()).isEmpty();
        assertThat(measured.state()).isEqualTo(State.UNMEASURED);
        assertThat(measured.estimateMicros()).isEmpty();
        assertThat(measured.uncertaintySeconds()).isEmpty();
    }

    @Test
    void oneAnswerHasTheTimeToWithinASecondAndItsRoundTrip() {
        service.answer(ROUND_TRIP);

        assertHasTheTime();
        assertThat(measured.uncertaintySeconds().orElseThrow()).isBetween(1.0, 1.1);
    }

    @Test
    void latestAnswerCountsAlone() {
        service.answer(Duration.ofMillis(900));
        service.answer(ROUND_TRIP);

        assertThat(measured.uncertaintySeconds().orElseThrow()).isBetween(1.0, 1.1);
        service.answer(Duration.ofMillis(900));
        assertThat(measured.uncertaintySeconds().orElseThrow()).isBetween(1.8, 2.0);
    }

    @Test
    void boundsContainTheTimeHoweverLongTheLastAnswerWasAgo() {
        answers(10);
        double before = measured.uncertaintySeconds().orElseThrow();

        clock.advance(Duration.ofMinutes(20));

        assertHasTheTime();
        assertThat(measured.uncertaintySeconds().orElseThrow()).isGreaterThan(before);
    }

    /** The machine's own clock may drift. */
    @Test
    void oldAnswerDecidesNothing() {
        answers(10);

        clock.advance(Duration.ofHours(1));

        assertThat(measured.now()).isEmpty();
        assertThat(measured.state()).isEqualTo(State.IMPRECISE);
        service.answer(ROUND_TRIP);
        assertHasTheTime();
    }

    @Test
    void slowAnswersDecideNothing() {
        service.answer(Duration.ofSeconds(3));

        assertThat(measured.now()).isEmpty();
        assertThat(measured.state()).isEqualTo(State.IMPRECISE);
        service.answer(ROUND_TRIP);
        assertHasTheTime();
    }

    /** {@code clock-error} allows for front ends whose times differ by less than 100 ms. */
    @Test
    void frontEndsMayDifferALittle() {
        for (int i = 0; i < 200; i++) {
            service.shift(Duration.ofMillis(i % 2 == 0 ? 40 : -40));
            service.answer(ROUND_TRIP);
            clock.advance(Duration.ofMillis(77));
            assertThat(measured.state()).isEqualTo(State.MEASURED);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {3_600_000, 5_000, -5_000, -90_000})
    void answerThatContradictsTheOneBeforeItDecidesNothingForAMinute(long millis) {
        answers(40);

        service.shift(Duration.ofMillis(millis));
        service.answer(ROUND_TRIP);

        assertThat(measured.now()).isEmpty();
        assertThat(measured.state()).isEqualTo(State.CONTRADICTORY);
        answersFor(ServiceClock.DISTRUST.minusSeconds(2));
        assertThat(measured.now()).isEmpty();
        answersFor(Duration.ofSeconds(4));
        assertHasTheTime();
    }

    @Test
    void frontEndsThatKeepContradictingEachOtherDecideNothing() {
        service.answer(ROUND_TRIP);
        for (int i = 0; i < 10; i++) {
            service.shift(Duration.ofSeconds(i % 2 == 0 ? 5 : -5));
            service.answer(ROUND_TRIP);
            clock.advance(ServiceClock.DISTRUST.minusSeconds(1));

            assertThat(measured.now()).isEmpty();
        }
    }

    /** The monotonic clock of a suspended machine stands still, while the service's clock continues. */
    @Test
    void suspensionShowsInTheFirstAnswerAfterIt() {
        answers(40);
        service.shift(Duration.ofMinutes(10));

        service.answer(ROUND_TRIP);

        assertThat(measured.state()).isEqualTo(State.CONTRADICTORY);
    }

    @Test
    void estimateGrowsWithEachCall() {
        service.answer(ROUND_TRIP);
        long first = measured.estimateMicros().orElseThrow();
        answers(40);
        long second = measured.estimateMicros().orElseThrow();

        assertThat(second).isGreaterThan(first);
        assertThat(measured.estimateMicros().orElseThrow()).isGreaterThan(second);
        clock.advance(Duration.ofDays(1));
        assertThat(measured.estimateMicros().orElseThrow()).isCloseTo(service.micros(), within(2_000_000L));
    }

    private void answers(int count) {
        for (int i = 0; i < count; i++) {
            service.answer(ROUND_TRIP);
            clock.advance(Duration.ofMillis(77));
        }
    }

    private void answersFor(Duration time) {
        for (long passed = 0; passed < time.toSeconds(); passed++) {
            clock.advance(Duration.ofMillis(980));
            service.answer(ROUND_TRIP);
        }
    }

    private void assertHasTheTime() {
        ServiceClock.Time now = measured.now().orElseThrow();
        assertThat(now.earliestMicros()).isLessThanOrEqualTo(service.micros());
        assertThat(now.latestMicros()).isGreaterThanOrEqualTo(service.micros());
    }
}
