package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.window.WindowWarning.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

class WatchedLatencyTests {

    private static final long SECOND = 1_000_000_000;
    private static final Duration WINDOW = Duration.ofSeconds(30);

    private long now = -7 * SECOND;
    private final WatchedLatency watched = new WatchedLatency(subscription(30), now);

    private static Subscription subscription(int timeoutSeconds) {
        return new Subscription("listener", "orders", VisibilityWindow.ofSeconds(timeoutSeconds), new ScriptedQueue());
    }

    private static Duration seconds(double seconds) {
        return Duration.ofNanos(Math.round(seconds * SECOND));
    }

    private List<Kind> feed(int seconds, IntToDoubleFunction latency) {
        List<Kind> told = new ArrayList<>();
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            WindowWarning warning = watched.delivered(now, seconds(latency.applyAsDouble(i)));
            if (warning != null) {
                told.add(warning.kind());
            }
        }
        return told;
    }

    @Test
    void eachThresholdIsReportedOnceUntilThereWasARecovery() {
        assertThat(feed(600, i -> 10)).isEmpty();
        assertThat(feed(1_200, i -> 26)).containsExactly(Kind.NEAR);
        assertThat(feed(1_200, i -> 33)).containsExactly(Kind.BREACHED);
        // The latency crosses a threshold repeatedly in both directions. No warning is repeated.
        assertThat(feed(3_600, i -> i / 600 % 2 == 0 ? 23 : 33)).isEmpty();
        assertThat(feed(1_800, i -> 10)).containsExactly(Kind.RECOVERED);
        assertThat(feed(600, i -> 26)).containsExactly(Kind.NEAR);
    }

    @Test
    void latencyBetweenTheBoundsOfWarningAndRecoveryIsNeither() {
        assertThat(feed(1_200, i -> 23)).isEmpty();
        assertThat(feed(1_200, i -> 26)).containsExactly(Kind.NEAR);
        assertThat(feed(1_200, i -> 22)).isEmpty();
        assertThat(feed(1_200, i -> 20)).containsExactly(Kind.RECOVERED);
    }

    @Test
    void twoSlowDeliveriesAreTooFewAndThreeAreEnough() {
        assertThat(feed(2, i -> 50)).isEmpty();
        assertThat(watched.recent(now).utilization(WINDOW)).isZero();

        assertThat(feed(20, i -> 50)).containsExactly(Kind.BREACHED);
    }

    @Test
    void moreDeliveriesProveMoreOfTheSameShare() {
        // Eight percent are slow, which is more than a twentieth. A hundred deliveries do not prove this share, but
        // 3,000 do.
        assertThat(feed(100, i -> i % 100 < 92 ? 5 : 29)).isEmpty();
        assertThat(watched.recent(now).p95()).isCloseTo(Duration.ofSeconds(29), Duration.ofMillis(300));
        assertThat(watched.recent(now).utilization(WINDOW)).isCloseTo(0.167, within(0.01));

        List<Kind> told = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            now += SECOND / 10;
            WindowWarning warning = watched.delivered(now, seconds(i % 100 < 92 ? 5 : 29));
            if (warning != null) {
                told.add(warning.kind());
            }
        }
        assertThat(told).containsExactly(Kind.NEAR);
    }

    @Test
    void fewSlowDeliveriesCauseNoWarning() {
        assertThat(feed(5_000, i -> i % 500 == 499 ? 90 : 5)).isEmpty();
    }

    @Test
    void recentDeliveriesAreOfFiveMinutesAndOthersAreForgotten() {
        feed(3_000, i -> 20);
        feed(361, i -> 5);

        assertThat(watched.recent(now).p99()).isCloseTo(Duration.ofSeconds(5), Duration.ofMillis(50));
        assertThat(watched.recent(now).count()).isBetween(300L, 361L);
        assertThat(watched.usual().count()).isEqualTo(3_361);
    }

    @Test
    void quietListenerHasItsLastHundredDeliveries() {
        for (int i = 0; i < 500; i++) {
            now += 60 * SECOND;
            watched.delivered(now, seconds(5));
        }

        assertThat(watched.recent(now).count()).isBetween(100L, 120L);
    }

    @Test
    void silentListenerHasNoRecentLatency() {
        assertThat(watched.recent(now)).isEqualTo(Latencies.NONE);
        feed(1_200, i -> 33);
        watched.handled(now, seconds(33));

        assertThat(watched.recent(now + 299 * SECOND).utilization(WINDOW)).isGreaterThan(1);
        assertThat(watched.handlers(now + 299 * SECOND).count()).isEqualTo(1);
        assertThat(watched.recent(now + 301 * SECOND)).isEqualTo(Latencies.NONE);
        assertThat(watched.handlers(now + 301 * SECOND)).isEqualTo(Latencies.NONE);
    }

    @Test
    void recommendationForgetsAfterTwelveHours() {
        feed(13 * 3_600, i -> 20);
        feed(12 * 3_600 + 1, i -> 5);

        assertThat(watched.usual().p99()).isCloseTo(Duration.ofSeconds(5), Duration.ofMillis(50));
    }

    @Test
    void anotherVisibilityTimeoutCountsAtOnce() {
        assertThat(feed(1_200, i -> 35)).containsExactly(Kind.BREACHED);
        watched.started(subscription(120));

        assertThat(feed(16, i -> 35)).containsExactly(Kind.RECOVERED);
    }

    @Test
    void latencyBeyondADayAndOfNothingAreCounted() {
        watched.delivered(now, Duration.ofDays(3));
        watched.delivered(now, Duration.ZERO);

        assertThat(watched.recent(now).p99()).isCloseTo(Duration.ofDays(1), Duration.ofMinutes(15));
        assertThat(watched.recent(now).p50()).isLessThan(Duration.ofMillis(1));
    }

    @Test
    void manyThreadsLoseNoDelivery() throws Exception {
        int threads = 8;
        int each = 20_000;
        CountDownLatch go = new CountDownLatch(1);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            for (int i = 0; i < threads; i++) {
                var unused = pool.submit(() -> {
                    go.await();
                    for (int k = 0; k < each; k++) {
                        watched.delivered(k * SECOND / 10, seconds(5));
                    }
                    return null;
                });
            }
            go.countDown();
        } finally {
            pool.shutdown();
            assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(watched.usual().count()).isEqualTo((long) threads * each);
        assertThat(watched.recent(each * SECOND / 10).p95())
                .isBetween(Duration.ofMillis(4_950), Duration.ofMillis(5_050));
    }
}
