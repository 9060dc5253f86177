package io.exactlyonce.benchmarks.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class DelayTests {

    private static final long MICRO = 1_000;

    private long now;
    private long parks;
    private long oversleep;
    private final Deque<Long> early = new ArrayDeque<>();

    private final Delay delay = new Delay(() -> now, this::park);

    @Test
    void threadContinuesAtOnceWhileThereIsNoDelay() {
        delay.holdUp(now);

        assertThat(parks).isZero();
        assertThat(delay.given().count()).isZero();
    }

    @Test
    void threadIsHeldUpOnce() {
        delay.set(Duration.ofMillis(8));

        delay.holdUp(now);

        assertThat(now).isEqualTo(8_000 * MICRO);
        assertThat(parks).isEqualTo(1);
    }

    @Test
    void whatHasPassedSinceTheArrivalIsNotWaitedForAgain() {
        delay.set(Duration.ofMillis(8));
        now = 3_000 * MICRO;

        delay.holdUp(0);

        assertThat(now).isEqualTo(8_000 * MICRO);
    }

    @Test
    void howLateTheKernelWakesThreadsIsLearnt() {
        delay.set(Duration.ofNanos(500 * MICRO));
        oversleep = 60 * MICRO;
        for (int i = 0; i < 100; i++) {
            delay.holdUp(now);
        }

        long before = now;
        delay.holdUp(now);

        assertThat(now - before).isCloseTo(500 * MICRO, within(MICRO));
        assertThat(delay.given().micros(0.5)).isCloseTo(500, within(30.0));
    }

    @Test
    void pauseOfABusyMachineIsNotTakenForTheTimers() {
        delay.set(Duration.ofNanos(500 * MICRO));
        oversleep = 50_000 * MICRO;
        delay.holdUp(now);

        oversleep = 0;
        long before = now;
        delay.holdUp(now);

        assertThat(now - before).isBetween(470 * MICRO, 500 * MICRO);
    }

    @Test
    void wakingForNoReasonIsNotTheEnd() {
        delay.set(Duration.ofMillis(8));
        early.add(2_000 * MICRO);

        delay.holdUp(now);

        assertThat(now).isEqualTo(8_000 * MICRO);
        assertThat(parks).isEqualTo(2);
    }

    @Test
    void newLengthForgetsWhatWasRecorded() {
        delay.set(Duration.ofMillis(8));
        delay.holdUp(now);

        delay.set(Duration.ofMillis(1));

        assertThat(delay.given().count()).isZero();
        assertThat(delay.given().micros(0.5)).isNaN();
    }

    private void park(long asked) {
        parks++;
        now += early.isEmpty() ? asked + oversleep : early.remove();
    }
}
