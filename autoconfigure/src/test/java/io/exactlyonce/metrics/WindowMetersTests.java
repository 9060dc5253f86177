package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class WindowMetricsTests {

    private final FakeClock clock = new FakeClock();
    private final WindowWatch watch = new WindowWatch(true, List.of(), clock);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final WindowMetrics metrics = new WindowMetrics(registry, watch);
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

    @Test
    void listenerWithoutTrafficIsAdvisedToKeepItsWindowAndNothingIsAhead() {
        metrics.subscribed(orders);
        watch.subscribed(orders);

        assertThat(recommended("renewed")).isEqualTo(30);
        assertThat(recommended("not_renewed")).isEqualTo(30);
        assertThat(value("exactly.once.window.time.to.breach")).isEqualTo(Double.POSITIVE_INFINITY);
        assertThat(value("exactly.once.window.strays")).isZero();
    }

    @Test
    void recommendationsGoByTheirRules() {
        watch.subscribed(orders);
        metrics.subscribed(orders);
        for (int delivery = 0; delivery < 1_000; delivery++) {
            clock.advance(Duration.ofSeconds(1));
            watch.delivered(orders, Duration.ofSeconds(delivery % 50 == 0 ? 40 : 10));
        }

        assertThat(recommended("renewed")).isCloseTo(20, within(2.0));
        assertThat(recommended("not_renewed")).isCloseTo(70, within(7.0));
        assertThat(value("exactly.once.window.strays")).isCloseTo(0.02, within(0.005));
    }

    @Test
    void breachIsToldWhileLatencyGrows() {
        watch.subscribed(orders);
        metrics.subscribed(orders);
        for (int second = 0; second < 3_600; second++) {
            clock.advance(Duration.ofSeconds(1));
            watch.delivered(orders, Duration.ofMillis(5_000 + second * 5L));
        }

        // From 23 s on, 7 s are left at 5 ms a second.
        assertThat(value("exactly.once.window.time.to.breach")).isBetween(700.0, 2_100.0);
    }

    @Test
    void restartedListenerKeepsItsGauges() {
        metrics.subscribed(orders);
        int meters = registry.getMeters().size();
        metrics.subscribed(orders.revised(VisibilityWindow.ofSeconds(60), null));

        assertThat(registry.getMeters()).hasSize(meters);
    }

    private double recommended(String rule) {
        return registry.get("exactly.once.window.recommended")
                .tag("rule", rule)
                .gauge()
                .value();
    }

    private double value(String name) {
        return registry.get(name).tag("queue", "orders").gauge().value();
    }
}
