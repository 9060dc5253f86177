package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class WindowGaugesTests {

    private final FakeClock clock = new FakeClock();
    private final WindowWatch watch = new WindowWatch(true, List.of(), clock);
    private final MockClock time = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, time);
    private final DeliveryMetrics metrics = new DeliveryMetrics(registry, watch);
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

    @Test
    void listenerWithoutTrafficIsAdvisedToKeepItsVisibilityTimeout() {
        metrics.subscribed(orders);
        watch.subscribed(orders);

        assertThat(recommended("renewed")).isEqualTo(30);
        assertThat(recommended("not_renewed")).isEqualTo(30);
        assertThat(value("exactly.once.window.utilization")).isZero();
    }

    /** The quantiles and the warnings' p95 have the same source, so that the figures of one listener agree. */
    @Test
    void quantilesAreThoseOfRecentDeliveriesAndHandlers() {
        subscribe();
        for (int delivery = 1; delivery <= 100; delivery++) {
            delivered(Duration.ofSeconds(1), Duration.ofMillis(100 * delivery));
            watch.on(new DeliveryEvent.Handled(orders, Duration.ofMillis(50 * delivery)));
        }

        assertThat(quantile("exactly.once.delivery.quantile", "0.5")).isCloseTo(5, within(0.2));
        assertThat(quantile("exactly.once.delivery.quantile", "0.95")).isCloseTo(9.5, within(0.3));
        assertThat(quantile("exactly.once.delivery.quantile", "0.99")).isCloseTo(9.9, within(0.3));
        assertThat(quantile("exactly.once.handler.quantile", "0.95")).isCloseTo(4.75, within(0.15));
        time.add(Duration.ofSeconds(301));
        clock.advance(Duration.ofSeconds(301));
        assertThat(quantile("exactly.once.delivery.quantile", "0.5")).isZero();
        assertThat(quantile("exactly.once.handler.quantile", "0.95")).isZero();
    }

    private double quantile(String name, String quantile) {
        return registry.get(name).tag("quantile", quantile).gauge().value();
    }

    @Test
    void recommendationsGoByTheirRules() {
        watch.subscribed(orders);
        metrics.subscribed(orders);
        for (int delivery = 0; delivery < 1_000; delivery++) {
            clock.advance(Duration.ofSeconds(1));
            watch.on(new DeliveryEvent.Delivered(
                    orders, orders.settings().window(), Duration.ofSeconds(delivery % 50 == 0 ? 40 : 10)));
        }

        assertThat(recommended("renewed")).isCloseTo(20, within(2.0));
        assertThat(recommended("not_renewed")).isCloseTo(70, within(7.0));
    }

    private void delivered(Duration pause, Duration elapsed) {
        clock.advance(pause);
        time.add(pause);
        metrics.on(new DeliveryEvent.Delivered(orders, orders.settings().window(), elapsed));
        watch.on(new DeliveryEvent.Delivered(orders, orders.settings().window(), elapsed));
    }

    /**
     * If there are fewer than four deliveries a minute, one delivery is more than a twentieth of five minutes'
     * deliveries.
     */
    @Test
    void oneSlowDeliveryOfAQuietListenerIsNoOverrun() {
        subscribe();
        for (int delivery = 0; delivery < 30; delivery++) {
            delivered(Duration.ofMinutes(2), Duration.ofSeconds(10));
        }
        delivered(Duration.ofMinutes(2), Duration.ofSeconds(45));

        assertThat(value("exactly.once.window.utilization")).isCloseTo(0.33, within(0.02));
        assertThat(value("exactly.once.window.headroom")).isCloseTo(20, within(0.6));
    }

    @Test
    void overrunOfAListenerThatHasBecomeQuietIsOverAfterFiveMinutes() {
        subscribe();
        for (int delivery = 0; delivery < 100; delivery++) {
            delivered(Duration.ofSeconds(20), Duration.ofSeconds(45));
        }
        assertThat(value("exactly.once.window.utilization")).isCloseTo(1.5, within(0.05));
        assertThat(watch.windows().get(0).utilization()).isCloseTo(1.5, within(0.05));

        clock.advance(Duration.ofSeconds(301));
        time.add(Duration.ofSeconds(301));

        assertThat(value("exactly.once.window.utilization")).isZero();
        assertThat(value("exactly.once.window.headroom")).isEqualTo(30);
    }

    private void subscribe() {
        watch.subscribed(orders);
        metrics.subscribed(orders);
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
