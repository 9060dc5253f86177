package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.audit.QueueObserver.Levels;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

class QueueMetricsTests {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final QueueMetrics metrics = new QueueMetrics(registry);
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

    @Test
    void lastNumbersOfAQueueAreShown() {
        metrics.observed(orders, new Levels(7L, 30_000L, 0L, 2L));
        metrics.observed(orders, new Levels(6L, 60_000L, 1L, null));

        assertThat(messages("visible")).isEqualTo(6);
        assertThat(messages("in_flight")).isEqualTo(60_000);
        assertThat(messages("delayed")).isOne();
        assertThat(messages("dead")).isEqualTo(2);
        assertThat(registry.get("exactly.once.queue.in.flight.utilization")
                        .tag("queue", "orders")
                        .gauge()
                        .value())
                .isEqualTo(0.5);
    }

    @Test
    void whatIsNotReportedHasNoGauge() {
        metrics.observed(orders, new Levels(1L, null, null, null));

        assertThat(registry.getMeters()).hasSize(1);
    }

    @Test
    void gaugesOfAQueueGoWithItsLastListener() {
        Subscription second = new Subscription("audit", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
        metrics.observed(orders, new Levels(7L, 1L, 0L, 2L));
        metrics.observed(second, new Levels(7L, 1L, 0L, 2L));

        metrics.forgotten(orders);
        assertThat(messages("dead")).isEqualTo(2);

        metrics.forgotten(second);
        assertThat(registry.getMeters()).isEmpty();

        metrics.observed(orders, new Levels(1L, 0L, 0L, 0L));
        assertThat(messages("dead")).isZero();
    }

    @Test
    void queuesOfOneNameShareAGaugeThatShowsTheLargerNumber() {
        Subscription elsewhere =
                new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
        metrics.observed(orders, new Levels(7L, 1L, 0L, 2L));
        metrics.observed(elsewhere, new Levels(3L, 1L, 0L, 0L));
        assertThat(messages("dead")).isEqualTo(2);

        metrics.forgotten(orders);

        assertThat(messages("dead")).isZero();
        assertThat(messages("visible")).isEqualTo(3);
    }

    private double messages(String state) {
        return registry.get("exactly.once.queue.messages")
                .tags("queue", "orders", "state", state)
                .gauge()
                .value();
    }
}
