package io.exactlyonce.visibility;

import static org.awaitility.Awaitility.await;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RenewalTickerTests {

    @Test
    void lookThatFailsDoesNotEndTheLooks() {
        AtomicInteger looks = new AtomicInteger();
        Thread maker = Thread.currentThread();
        RenewalSupervisor broken = new RenewalSupervisor(
                new ScriptedStore(),
                new RenewalSchedule(0.5, 0.1, 3),
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

        try (var ticker = new RenewalTicker(broken, Thread::new)) {
            await().until(() -> ticker != null && looks.get() >= 2);
        }
    }
}
