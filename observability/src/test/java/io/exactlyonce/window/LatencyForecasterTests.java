package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

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

class LatencyForecasterTests {

    private static final long SECOND = 1_000_000_000;

    private long now = -7 * SECOND;
    private final LatencyForecaster forecaster = new LatencyForecaster(Duration.ofSeconds(30), now);

    private List<Kind> feed(int seconds, IntToDoubleFunction latency) {
        List<Kind> told = new ArrayList<>();
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            WindowWarning warning = forecaster.record(now, latency.applyAsDouble(i));
            if (warning != null) {
                told.add(warning.kind());
            }
        }
        return told;
    }

    @Test
    void eachThresholdIsToldOnceUntilThereWasARecovery() {
        assertThat(feed(600, i -> 10)).isEmpty();
        assertThat(feed(1_200, i -> 26)).containsExactly(Kind.NEAR, Kind.BREACH_AHEAD);
        assertThat(feed(1_200, i -> 33)).containsExactly(Kind.BREACHED);
        // Up and down across a threshold: nothing is told again.
        assertThat(feed(3_600, i -> i / 600 % 2 == 0 ? 23 : 33)).isEmpty();
        assertThat(feed(1_800, i -> 10)).containsExactly(Kind.RECOVERED);
        // A jump looks like growth for some minutes.
        assertThat(feed(600, i -> 26)).containsExactly(Kind.NEAR, Kind.BREACH_AHEAD);
    }

    @Test
    void growthIsToldBeforeItIsNear() {
        feed(600, i -> 5);

        assertThat(feed(1_500, i -> 5 + 30.0 * i / 1_500)).containsExactly(Kind.BREACH_AHEAD, Kind.NEAR, Kind.BREACHED);
    }

    @Test
    void timeOfABreachIsToldAlsoAfterItWasNear() {
        feed(7_200, i -> 10);
        List<WindowWarning> warnings = new ArrayList<>();
        for (int i = 0; i < 14_400; i++) {
            now += SECOND;
            WindowWarning warning = forecaster.record(now, 10 + 24.0 * i / 14_400);
            if (warning != null) {
                warnings.add(warning);
            }
        }

        assertThat(warnings)
                .extracting(WindowWarning::kind)
                .containsExactly(Kind.NEAR, Kind.BREACH_AHEAD, Kind.BREACHED);
        // p95 grows by 6 s an hour: from 24 s on it takes an hour to 30 s.
        assertThat(warnings.get(0).timeToBreach())
                .hasValueSatisfying(time -> assertThat(time).isBetween(Duration.ofMinutes(45), Duration.ofMinutes(75)));
        assertThat(warnings.get(1).timeToBreach())
                .hasValueSatisfying(time -> assertThat(time).isBetween(Duration.ofMinutes(11), Duration.ofMinutes(12)));
        assertThat(warnings.get(2).timeToBreach()).hasValue(Duration.ZERO);
    }

    @Test
    void breachThatHasHappenedHasATimeOfZeroWhileThereAreDeliveries() {
        feed(1_200, i -> 33);
        assertThat(forecaster.forecast(now).timeToBreach()).hasValue(Duration.ZERO);

        LatencyForecast silent = forecaster.forecast(now + 301 * SECOND);
        assertThat(silent.timeToBreach()).isEmpty();
        assertThat(silent.utilization()).isZero();
        assertThat(silent.sinceLast()).isEqualTo(Duration.ofSeconds(301));
    }

    @Test
    void outlookTellsTrendAndTimeToBreach() {
        feed(600, i -> 5);
        feed(600, i -> 5 + i / 60.0);

        LatencyForecast forecast = forecaster.forecast(now);

        // 15 s now, one more each minute: 15 minutes to 30 s.
        assertThat(forecast.timeToBreach())
                .hasValueSatisfying(time -> assertThat(time).isBetween(Duration.ofMinutes(12), Duration.ofMinutes(17)));
        assertThat(forecast.utilization()).isBetween(0.45, 0.52);
        assertThat(forecast.latencies().count()).isEqualTo(1_200);
    }

    @Test
    void listenerWithoutTrafficTellsNothing() {
        LatencyForecast never = forecaster.forecast(now);
        assertThat(never.latencies().count()).isZero();
        assertThat(never.utilization()).isZero();
        assertThat(never.timeToBreach()).isEmpty();

        feed(600, i -> 5);
        feed(600, i -> 5 + i / 60.0);
        LatencyForecast silent = forecaster.forecast(now + 7_200 * SECOND);

        assertThat(silent.timeToBreach()).isEmpty();
    }

    @Test
    void harmlessStepIsNoClimb() {
        assertThat(feed(3_600, i -> 5 + i % 7 * 0.1)).isEmpty();
        assertThat(feed(3_600, i -> 16 + i % 7 * 0.1)).isEmpty();
    }

    @Test
    void strayAloneIsCountedAndNotWarnedOf() {
        assertThat(feed(5_000, i -> i % 500 == 499 ? 90 : 5)).isEmpty();

        LatencyForecast forecast = forecaster.forecast(now);
        assertThat(forecast.shareBeyond() * 1_000).isBetween(1.0, 3.0);
        assertThat(forecast.overruns()).endsWith("in 1,000 outlast the visibility timeout");
        assertThat(forecast.isShareGrowing()).isFalse();
    }

    @Test
    void growingShareOfStraysIsToldInWords() {
        feed(20_000, i -> 5);
        feed(3_600, i -> i % 100 == 99 ? 90 : 5);

        assertThat(forecaster.forecast(now).overruns())
                .matches("\\d+\\.\\d in 1,000 outlast the visibility timeout, growing");
    }

    @Test
    void anotherWindowIsJudgedByItself() {
        assertThat(feed(1_200, i -> 35)).containsExactly(Kind.BREACHED);
        forecaster.windowChanged(Duration.ofSeconds(120));

        assertThat(feed(1_200, i -> 35)).containsExactly(Kind.RECOVERED);
        LatencyForecast forecast = forecaster.forecast(now);
        assertThat(forecast.window()).isEqualTo(Duration.ofSeconds(120));
        assertThat(forecast.shareBeyond()).isZero();
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
                        forecaster.record(k * SECOND / 10, 5);
                    }
                    return null;
                });
            }
            go.countDown();
        } finally {
            pool.shutdown();
            assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        }
        LatencyForecast forecast = forecaster.forecast(each * SECOND / 10);
        assertThat(forecast.latencies().count()).isEqualTo((long) threads * each);
        assertThat(forecast.recent().p95()).isBetween(Duration.ofMillis(4_900), Duration.ofMillis(5_150));
    }
}
