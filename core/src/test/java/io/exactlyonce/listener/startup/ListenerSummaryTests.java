package io.exactlyonce.listener.startup;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.listener.method.ListenerMethod;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalSchedule;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ListenerSummaryTests {

    record Order(String orderId) {}

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
        void keyed(Order order) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#payload.orderId",
                fingerprint = "#payload.orderId.trim()",
                scope = "shop",
                whenInDoubt = InDoubtPolicy.PARK,
                onMismatch = MismatchPolicy.WARN)
        void special(List<Order> orders) {}
    }

    private final ListenerSummary usual = new ListenerSummary(
            () -> "db-1:5432/shop (primary)", policy(null, Duration.ofDays(14)), new RenewalSchedule(0.5, 0.1));

    private static OutcomePolicy policy(@Nullable Duration lease, Duration retention) {
        ClaimSettings terms = new ClaimSettings("worker", lease, retention, MismatchPolicy.REFUSE, UUID::randomUUID);
        return new OutcomePolicy(terms, new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)));
    }

    private static ListenerMethod listener(String method) {
        return ListenerRig.settings(new Listeners(), method).listener();
    }

    @Test
    void lineHasWhatWillHappen() {
        Subscription orders = new Subscription(
                "fulfilment",
                "orders",
                new QueueSettings(VisibilityWindow.ofSeconds(30), 5),
                null,
                new ScriptedQueue(),
                PollGate.OPEN);

        assertThat(usual.describe(orders, listener("keyed")))
                .isEqualTo("queue orders, key #order.orderId, visibility timeout 30s renewed every 15s,"
                        + " dead-letter queue after 5 receives, claims on db-1:5432/shop (primary), retention 14d,"
                        + " message attribute ExactlyOnce-Key ignored");
    }

    @Test
    void lineHasWhatIsUnusual() {
        OutcomePolicy usual = policy(null, Duration.ofDays(14));
        OutcomePolicy own = new OutcomePolicy(
                new ClaimSettings(
                        "worker",
                        Duration.ofSeconds(90),
                        Duration.ofHours(36),
                        MismatchPolicy.REFUSE,
                        UUID::randomUUID),
                new RetryBackoff(Duration.ofSeconds(2), Duration.ofMinutes(10)));
        ListenerSummary line = new ListenerSummary(
                () -> "DynamoDB table claims in eu-central-1",
                new OutcomePolicy(usual.terms(), usual.backoff(), Map.of("fulfilment", own)),
                new RenewalSchedule(false, 0.5, 0.1));
        Subscription orders = new Subscription(
                "fulfilment",
                "orders.fifo",
                new QueueSettings(VisibilityWindow.ofSeconds(60), 3),
                Duration.ofMillis(2_500),
                new ScriptedQueue(),
                PollGate.OPEN);

        assertThat(line.describe(orders, listener("special")))
                .isEqualTo(
                        "queue orders.fifo (FIFO), key #payload.orderId, fingerprint #payload.orderId.trim(), scope shop, visibility timeout 1m never renewed,"
                                + " lease 1m30s never renewed, timeout 2s500ms, in batches, whenInDoubt PARK,"
                                + " dead-letter queue after 3 receives, claims on DynamoDB table claims in eu-central-1,"
                                + " retention 1d12h, on-mismatch warn, retry after 2s to 10m,"
                                + " message attribute ExactlyOnce-Key ignored");
    }
}
