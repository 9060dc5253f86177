package io.exactlyonce.dynamodb.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.dynamodb.testing.FakeClock;
import io.exactlyonce.dynamodb.testing.FakeService;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServiceClockTests {

    private static final Duration ERROR = Duration.ofSeconds(2);
    private static final Duration ROUND_TRIP = Duration.ofMillis(20);

    private final FakeClock clock = new FakeClock();
    private final ServiceClock measured = new ServiceClock(clock, ERROR);
    private final FakeService service = new FakeService(clock, measured);

    @Test
    void nothingIsKnownBeforeTheFirstAnswer() {
        assertThat(measured.now()).isEmpty();
        assertThat(measured.soundness()).isEqualTo(Soundness.UNMEASURED);
        assertThat(measured.estimateMicros()).isEmpty();
        assertThat(measured.uncertaintySeconds()).isEmpty();
    }

    @Test
    void oneAnswerTellsTheTimeToWithinASecondAndItsRoundTrip() {
        service.answer(ROUND_TRIP);

        assertHasTheTime();
        assertThat(measured.uncertaintySeconds().orElseThrow()).isBetween(1.2, 1.3);
    }

    @Test
    void manyAnswersTellItMoreExactly() {
        answers(40);

        assertHasTheTime();
        assertThat(measured.uncertaintySeconds().orElseThrow()).isLessThan(0.35);
    }

    @Test
    void boundsContainTheTimeHoweverLongTheLastAnswerWasAgo() {
        answers(10);
        double before = measured.uncertaintySeconds().orElseThrow();

        clock.advance(Duration.ofSeconds(45));

        assertHasTheTime();
        assertThat(measured.uncertaintySeconds().orElseThrow()).isGreaterThan(before);
    }

    @Test
    void oldAnswersDecideNothing() {
        answers(10);

        clock.advance(ServiceClock.WINDOW.plusSeconds(2));

        assertThat(measured.now()).isEmpty();
        assertThat(measured.soundness()).isEqualTo(Soundness.STALE);
        assertThat(measured.uncertaintySeconds()).isEmpty();
        service.answer(ROUND_TRIP);
        assertHasTheTime();
    }

    @Test
    void slowAnswersDecideNothing() {
        service.answer(Duration.ofSeconds(3));

        assertThat(measured.now()).isEmpty();
        assertThat(measured.soundness()).isEqualTo(Soundness.IMPRECISE);
        service.answer(ROUND_TRIP);
        assertHasTheTime();
    }

    @Test
    void frontEndsMayDifferALittle() {
        for (int i = 0; i < 200; i++) {
            service.shift(Duration.ofMillis(i % 2 == 0 ? 80 : -80));
            service.answer(ROUND_TRIP);
            clock.advance(Duration.ofMillis(77));
        }

        assertThat(measured.contradicted()).isZero();
        assertHasTheTime();
    }

    @Test
    void timeIsMeasuredAnewAfterOneContradiction() {
        answers(40);

        service.shift(Duration.ofHours(1));
        service.answer(ROUND_TRIP);

        assertThat(measured.contradicted()).isEqualTo(1);
        assertHasTheTime();
    }

    @Test
    void timeIsMeasuredAnewAfterOneContradictionInTheOtherDirection() {
        answers(40);

        service.shift(Duration.ofSeconds(-90));
        service.answer(ROUND_TRIP);

        assertThat(measured.contradicted()).isEqualTo(1);
        assertHasTheTime();
    }

    @Test
    void frontEndsThatKeepContradictingEachOtherDecideNothing() {
        answers(40);
        service.shift(Duration.ofSeconds(5));
        service.answer(ROUND_TRIP);
        service.shift(Duration.ofSeconds(-5));
        service.answer(ROUND_TRIP);

        assertThat(measured.now()).isEmpty();
        assertThat(measured.soundness()).isEqualTo(Soundness.CONTRADICTORY);

        for (int i = 0; i < 70; i++) {
            clock.advance(Duration.ofSeconds(1));
            service.answer(ROUND_TRIP);
        }
        assertHasTheTime();
    }

    /** A suspended machine's monotonic clock stands still, and the service's goes on. */
    @Test
    void suspensionShowsInTheFirstAnswerAfterIt() {
        answers(40);
        service.shift(Duration.ofMinutes(10));

        service.answer(ROUND_TRIP);

        assertThat(measured.contradicted()).isEqualTo(1);
        assertHasTheTime();
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

    private void assertHasTheTime() {
        ServiceTime now = measured.now().orElseThrow();
        assertThat(now.earliestMicros()).isLessThanOrEqualTo(service.micros());
        assertThat(now.latestMicros()).isGreaterThanOrEqualTo(service.micros());
    }
}
