package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.sighting.ObservedQueue;
import io.exactlyonce.sighting.Sighting;
import io.exactlyonce.sighting.Unobserved;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

class SightingMetricsTests {

    private static final ObservedQueue ORDERS = new ObservedQueue("fulfilment", "orders");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SightingMetrics metrics = new SightingMetrics(registry);

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
                .hasSize(Sighting.values().length)
                .allMatch(counter -> counter.count() == 0);
        assertThat(registry.get("exactly.once.unobserved").counters())
                .hasSize(Unobserved.values().length)
                .allMatch(counter -> counter.count() == 0);
    }

    @Test
    void handlersAreCountedByWhatTheyMet() {
        metrics.sighted(ORDERS, new ClaimKey("orders", "o1"), Sighting.DUPLICATE);
        metrics.sighted(ORDERS, new ClaimKey("orders", "o1"), Sighting.DUPLICATE);
        metrics.sighted(ORDERS, new ClaimKey("orders", "o2"), Sighting.ALONE);
        metrics.unobserved(ORDERS, Unobserved.STORE, new IllegalStateException());

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
