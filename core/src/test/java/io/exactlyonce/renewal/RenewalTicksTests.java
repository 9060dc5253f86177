package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.time.SystemClockwork;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RenewalTicksTests {

    @Test
    void lookThatFailsDoesNotEndTheLooks() {
        AtomicInteger looks = new AtomicInteger();
        Thread maker = Thread.currentThread();
        Renewer broken = new Renewer(
                new ScriptedStore(),
                new RenewalSchedule(0.5, 0.1),
                new RenewalObserver() {},
                Runnable::run,
                () -> {
                    if (Thread.currentThread() == maker) {
                        return 0;
                    }
                    looks.incrementAndGet();
                    throw new IllegalStateException("no clock");
                },
                () -> 0);

        try (var ticks = broken.begin(new SystemClockwork(), "ticker")) {
            await().until(() -> ticks != null && looks.get() >= 2);
        }
    }

    @Test
    void timeBeforeTheFirstLookIsNoPause() {
        FakeClock clock = new FakeClock();
        AtomicInteger looks = new AtomicInteger();
        AtomicInteger pauses = new AtomicInteger();
        RenewalObserver observer = new RenewalObserver() {
            @Override
            public void paused(Duration length) {
                pauses.incrementAndGet();
            }
        };
        Renewer stopped = new Renewer(
                new ScriptedStore(),
                new RenewalSchedule(0.5, 0.1),
                observer,
                Runnable::run,
                () -> {
                    looks.incrementAndGet();
                    return clock.nanoTime();
                },
                () -> 0);
        clock.advance(Duration.ofMinutes(1));

        try (var ticks = stopped.begin(new SystemClockwork(), "ticker")) {
            await().until(() -> ticks != null && looks.get() >= 4);
        }
        assertThat(pauses).hasValue(0);
    }
}
