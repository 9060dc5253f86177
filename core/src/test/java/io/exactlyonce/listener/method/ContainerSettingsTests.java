package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.support.MessageBuilder;

class ContainerSettingsTests {

    record Placed(String orderId) {}

    record Cancelled(String orderId, String reason) {}

    @ExactlyOnceListener(queueNames = "events", key = "#event.orderId", scope = "events")
    static class Events {

        @SqsHandler
        void placed(Placed event, Claim claim) {}

        @SqsHandler
        void cancelled(Cancelled event) {}

        @SqsHandler(isDefault = true)
        void other(Map<String, String> event) {}
    }

    @ExactlyOnceListener(queueNames = "events", key = "#event.orderId")
    static class Ambiguous {

        @SqsHandler
        void placed(Placed event) {}

        @SqsHandler
        void record(Record event) {}

        @SqsHandler
        void same(Placed event) {}
    }

    static class Batches {

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.orderId")
        void batch(List<Placed> orders, List<Claim> claims) {}
    }

    private static ReceivedMessage received(Object payload) {
        ReceivedMessage received = ListenerRig.received();
        received.attachTo(MessageBuilder.withPayload(payload).build(), null);
        return received;
    }

    private static String key(ContainerSettings settings, Object payload) {
        return settings.spec(received(payload)).key().toString();
    }

    @Test
    void messageWithoutAKeyIsToldInOneLineAndNotClaimed() {
        ReceivedMessage message = received("text");
        Delivery delivery = message.delivery();

        try (CapturedLog log = new CapturedLog()) {
            ListenerRig.settings(new Events(), "placed").specify(message);
            assertThat(log.text().strip().lines())
                    .singleElement()
                    .asString()
                    .contains("ERROR", "of listener 'listener' on queue 'orders' is returned", "cannot be resolved");
        }

        assertThat(delivery.beginProcessing()).isTrue();
        assertThat(delivery.isToBeClaimed()).isFalse();
    }

    @Test
    void keyIsOfTheMethodThatAwspringCalls() {
        ContainerSettings events = ListenerRig.settings(new Events(), "placed", "cancelled", "other");

        assertThat(key(events, new Placed("o1"))).isEqualTo(key(events, new Cancelled("o1", "late")));
        assertThat(key(events, Map.of("orderId", "o1"))).isEqualTo(key(events, new Placed("o1")));
        assertThat(events.listener().scope()).isEqualTo("events");
        assertThat(events.payloadTypesOfClass()).containsExactlyInAnyOrder(Placed.class, Cancelled.class, Map.class);
        assertThat(events.listener().isBatch()).isFalse();
    }

    @Test
    void payloadThatNoMethodOrMoreThanOneTakesHasNoKey() {
        ContainerSettings events = ListenerRig.settings(new Events(), "placed", "cancelled");
        ContainerSettings ambiguous = ListenerRig.settings(new Ambiguous(), "placed", "record", "same");

        assertThatThrownBy(() -> key(events, "text"))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("No @SqsHandler method takes a payload of type java.lang.String");
        assertThatThrownBy(() -> key(ambiguous, new Placed("o1")))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("Several @SqsHandler methods take a payload of type " + Placed.class.getName());
    }

    @Test
    void messageOfABatchHasItsKeyAlone() {
        ContainerSettings batches = ListenerRig.settings(new Batches(), "batch");

        assertThat(key(batches, new Placed("o1"))).isNotEqualTo(key(batches, new Placed("o2")));
        assertThat(batches.listener().isBatch()).isTrue();
        assertThat(batches.payloadTypesOfClass()).isEmpty();
    }
}
