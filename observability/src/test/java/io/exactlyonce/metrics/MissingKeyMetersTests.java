package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

/** Tests the counts of messages without a key, by policy. */
class MissingKeyMetersTests {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final DeliveryMetrics metrics = new DeliveryMetrics(registry, new WindowWatch(true, List.of(), () -> 0));
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

    private double count(MissingKeyPolicy policy) {
        return registry.get("exactly.once.keys.missing")
                .tags(
                        "listener",
                        "fulfilment",
                        "queue",
                        "orders",
                        "policy",
                        policy.name().toLowerCase())
                .counter()
                .count();
    }

    @Test
    void messagesWithoutAKeyAreCountedByTheirPolicy() {
        metrics.subscribed(orders);
        assertThat(count(MissingKeyPolicy.SKIP)).isZero();

        metrics.on(new DeliveryEvent.KeyMissing(orders, MissingKeyPolicy.SKIP));
        metrics.on(new DeliveryEvent.KeyMissing(orders, MissingKeyPolicy.SKIP));
        metrics.on(new DeliveryEvent.KeyMissing(orders, MissingKeyPolicy.RUN_UNPROTECTED));

        assertThat(count(MissingKeyPolicy.SKIP)).isEqualTo(2);
        assertThat(count(MissingKeyPolicy.RUN_UNPROTECTED)).isEqualTo(1);
        assertThat(count(MissingKeyPolicy.REFUSE)).isZero();
    }

    @Test
    void unprotectedMessageCompletesNoKey() {
        Delivery delivery = new Delivery(orders, orders.settings(), "m1", "r", 1, 0);
        delivery.attempt()
                .specifyWithoutKey(
                        MissingKeyPolicy.RUN_UNPROTECTED, new ClaimKey("orders", "m1"), Mockito.mock(Claim.class), "");
        delivery.beginCall(new Cancellation());

        metrics.on(new DeliveryEvent.Settled(delivery, DeliveryState.DELETING));

        assertThat(registry.get("exactly.once.completions").counter().count()).isZero();
    }
}
