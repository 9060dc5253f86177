package io.exactlyonce.claim.postgres.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.SmartLifecycle;

class RetentionLifecycleTests {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private final AtomicInteger sweeps = new AtomicInteger();
    private final AtomicBoolean ready = new AtomicBoolean(true);
    private RetentionLifecycle lifecycle = lifecycle(sweeps::incrementAndGet);

    private RetentionLifecycle lifecycle(RetentionLifecycle.Sweep sweep) {
        return new RetentionLifecycle(sweep, ready::get, Duration.ofMillis(2), () -> 0.5);
    }

    @AfterEach
    void stop() {
        lifecycle.stop();
    }

    @Test
    void instancesThatStartTogetherSpreadOverTheFirstInterval() {
        assertThat(RetentionLifecycle.firstDelay(INTERVAL, 0)).isZero();
        assertThat(RetentionLifecycle.firstDelay(INTERVAL, 0.5)).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void delaysVaryByHalfTheInterval() {
        assertThat(RetentionLifecycle.delay(INTERVAL, 0)).isEqualTo(Duration.ofSeconds(30));
        assertThat(RetentionLifecycle.delay(INTERVAL, 0.5)).isEqualTo(INTERVAL);
        assertThat(RetentionLifecycle.delay(INTERVAL, 0.999)).isLessThan(Duration.ofSeconds(90));
    }

    @Test
    void sweepsAgainAndAgainAlsoAfterAFailure() {
        lifecycle = lifecycle(() -> {
            if (sweeps.incrementAndGet() % 2 == 0) {
                throw new IllegalStateException("failed");
            }
        });
        lifecycle.start();

        await().until(() -> sweeps.get() > 4);
    }

    @Test
    void nothingIsSweptBeforeThereIsATable() {
        ready.set(false);
        AtomicInteger asked = new AtomicInteger();
        lifecycle = new RetentionLifecycle(
                sweeps::incrementAndGet,
                () -> asked.incrementAndGet() > 3 && ready.get(),
                Duration.ofMillis(2),
                () -> 0.5);
        lifecycle.start();
        await().until(() -> asked.get() > 5);
        assertThat(sweeps).hasValue(0);

        ready.set(true);
        await().until(() -> sweeps.get() > 0);
    }

    @Test
    void stopInterruptsASweepAndWaitsForItsEnd() throws Exception {
        CountDownLatch sweeping = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        AtomicBoolean ended = new AtomicBoolean();
        lifecycle = lifecycle(() -> {
            thread.set(Thread.currentThread());
            sweeping.countDown();
            try {
                new CountDownLatch(1).await();
            } finally {
                ended.set(true);
            }
        });
        lifecycle.start();
        sweeping.await();

        lifecycle.stop();

        assertThat(ended).isTrue();
        assertThat(thread.get().isDaemon()).isTrue();
        assertThat(thread.get().getName()).startsWith("exactly-once-retention-");
        thread.get().join(10_000);
        assertThat(thread.get().isAlive()).isFalse();
    }

    @Test
    void stoppedLifecycleCanStartAgain() {
        assertThat(lifecycle.isRunning()).isFalse();
        lifecycle.start();
        assertThat(lifecycle.isRunning()).isTrue();
        lifecycle.stop();
        assertThat(lifecycle.isRunning()).isFalse();
        int before = sweeps.get();
        lifecycle.start();

        await().until(() -> sweeps.get() > before);
    }

    @Test
    void containersStopEarlierOrAtTheSameTimeAndThePoolLater() {
        assertThat(lifecycle.getPhase()).isLessThanOrEqualTo(SmartLifecycle.DEFAULT_PHASE);
        assertThat(lifecycle.isAutoStartup()).isTrue();
    }
}
