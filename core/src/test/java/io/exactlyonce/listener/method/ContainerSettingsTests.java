package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;
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
    }

    interface Event {
        String orderId();
    }

    sealed interface Change permits Moved {}

    record Moved(String orderId) implements Change {}

    @ExactlyOnceListener(queueNames = "events", key = "#headers['orderId']")
    static class Unreachable {

        @SqsHandler
        void wrapped(Message<Placed> event) {}

        @SqsHandler
        void open(Event event) {}

        @SqsHandler
        void sealed(Change event) {}

        @SqsHandler
        void generic(Optional<Cancelled> event) {}

        @SqsHandler(isDefault = true)
        void all(Object event) {}
    }

    static class Batches {

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.orderId")
        void batch(List<Placed> orders, List<Claim> claims) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId", fingerprint = "#headers['amount']")
        void fingerprinted(Placed order) {}
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
    void messageWithoutAKeyIsReportedInOneLineAndNotClaimed() {
        ReceivedMessage message = received("text");
        Delivery delivery = message.delivery();

        try (CapturedLog log = new CapturedLog()) {
            ListenerRig.settings(new Events(), "placed", "other").specify(message);
            assertThat(log.text().strip().lines())
                    .singleElement()
                    .asString()
                    .contains("ERROR", "of listener 'listener' on queue 'orders' is returned", "cannot be resolved");
        }

        assertThat(delivery.attempt().begin()).isTrue();
        assertThat(delivery.attempt().isToBeClaimed()).isFalse();
    }

    @Test
    void keyIsOfTheMethodThatSpringCloudAwsCalls() {
        ContainerSettings events = ListenerRig.settings(new Events(), "placed", "cancelled", "other");

        assertThat(key(events, new Placed("o1"))).isEqualTo(key(events, new Cancelled("o1", "late")));
        assertThat(key(events, Map.of("orderId", "o1"))).isEqualTo(key(events, new Placed("o1")));
        assertThat(events.listener().scope()).isEqualTo("events");
        assertThat(events.payloadsOfClass())
                .extracting(PayloadType::raw)
                .containsExactly(Placed.class, Cancelled.class, Map.class);
        assertThat(events.listener().isBatch()).isFalse();
    }

    @Test
    void headersAreRequestedIfAKeyOrAFingerprintMayDependOnThem() {
        assertThat(ListenerRig.settings(new Events(), "placed", "other").readHeaders())
                .isFalse();
        assertThat(ListenerRig.settings(new Unreachable(), "wrapped").readHeaders())
                .isTrue();
        assertThat(ListenerRig.settings(new Batches(), "fingerprinted").readHeaders())
                .isTrue();
    }

    @Test
    void payloadThatNoMethodTakesHasNoKey() {
        ContainerSettings events = ListenerRig.settings(new Events(), "placed", "cancelled");

        assertThatThrownBy(() -> key(events, "text"))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("No @SqsHandler method takes a payload of type java.lang.String")
                .hasMessageContaining("names the type in the message attribute JavaType");
        assertThatThrownBy(() -> key(ListenerRig.settings(new Events(), "placed"), new Cancelled("o1", "late")))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("No @SqsHandler method takes a payload of type " + Cancelled.class.getName());
    }

    private static void requireReadable(Object target, String... methods) {
        ListenerRig.settings(target, methods).requireReadable(new SqsMessagingMessageConverter());
    }

    /**
     * If startup accepted the classes of this test, each message would reach the dead-letter queue, or the sender could
     * choose any class for the payload.
     */
    @Test
    void methodOfAClassThatGetsNothingItTakesIsRefused() {
        assertThatThrownBy(() -> requireReadable(new Ambiguous(), "placed", "record"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Ambiguous.placed")
                .hasMessageContaining("another @SqsHandler method of its class takes " + Placed.class.getName());
        for (String method : List.of("wrapped", "generic")) {
            assertThatThrownBy(() -> requireReadable(new Unreachable(), method, "all"))
                    .isInstanceOf(InvalidListenerException.class)
                    .hasMessageContaining("Unreachable." + method)
                    .hasMessageContaining("by a parameter of the payload's class");
        }
        assertThatThrownBy(() -> requireReadable(new Unreachable(), "open", "all"))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).contains("seal the type", "@JsonSubTypes"))
                .hasMessageContaining("it takes " + Event.class.getName());
        assertThatCode(() -> requireReadable(new Unreachable(), "sealed", "all"))
                .doesNotThrowAnyException();
    }

    /** A converter of the application may create payloads without the listener's type. */
    @Test
    void typeThatIsOpenMayBeMadeByAConverterOfTheApplicationsOwnKind() {
        assertThatCode(() -> ListenerRig.settings(new Unreachable(), "open", "all")
                        .requireReadable(new MessagingMessageConverter<>() {
                            @Override
                            public Message<?> toMessagingMessage(Object source) {
                                throw new UnsupportedOperationException();
                            }

                            @Override
                            public Object fromMessagingMessage(Message<?> message) {
                                throw new UnsupportedOperationException();
                            }
                        }))
                .doesNotThrowAnyException();
    }

    @Test
    void whatIsRefusedOfAnEnforcedListenerIsOnlyReportedOfAnObservedOne() {
        try (CapturedLog log = new CapturedLog(ListenerRules.class)) {
            ListenerRig.observed(new Ambiguous(), "placed", "record")
                    .requireReadable(new SqsMessagingMessageConverter());

            assertThat(log.text()).contains("only observed", "another @SqsHandler method of its class takes");
        }
    }

    @Test
    void messageOfABatchHasItsKeyAlone() {
        ContainerSettings batches = ListenerRig.settings(new Batches(), "batch");

        assertThat(key(batches, new Placed("o1"))).isNotEqualTo(key(batches, new Placed("o2")));
        assertThat(batches.listener().isBatch()).isTrue();
        assertThat(batches.payloadsOfClass()).isEmpty();
    }
}
