package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.observed.NotObserved;
import io.exactlyonce.observed.ObservedOutcome;
import io.exactlyonce.queue.ListenerQueue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

class ObservedMetricsTests {

    private static final ListenerQueue ORDERS = new ListenerQueue("fulfilment", "orders");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ObservedMetrics metrics = new ObservedMetrics(registry);

    private double observed(String outcome) {
        return registry.get("exactly.once.observed")
                .tags("listener", "fulfilment", "queue", "orders", "outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void allOutcomesAreZeroBeforeTheFirstMessage() {
        metrics.observing(ORDERS);

        assertThat(registry.get("exactly.once.observed").counters())
                .hasSize(ObservedOutcome.values().length)
                .allMatch(counter -> counter.count() == 0);
        assertThat(registry.get("exactly.once.unobserved").counters())
                .hasSize(NotObserved.values().length)
                .allMatch(counter -> counter.count() == 0);
    }

    @Test
    void handlersAreCountedByWhatTheyMet() {
        metrics.observed(ORDERS, new ClaimKey("orders", "o1"), ObservedOutcome.DUPLICATE);
        metrics.observed(ORDERS, new ClaimKey("orders", "o1"), ObservedOutcome.DUPLICATE);
        metrics.observed(ORDERS, new ClaimKey("orders", "o2"), ObservedOutcome.ALONE);
        metrics.notObserved(ORDERS, NotObserved.STORE, new IllegalStateException());

        assertThat(observed("duplicate")).isEqualTo(2);
        assertThat(observed("alone")).isEqualTo(1);
        assertThat(observed("overlap")).isZero();
        assertThat(registry.get("exactly.once.unobserved")
                        .tag("reason", "store")
                        .counter()
                        .count())
                .isEqualTo(1);
    }
}
