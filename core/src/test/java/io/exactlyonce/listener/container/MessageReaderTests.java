package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.HostileMessages;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.Renewer;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/** Tests the reading of valid messages, and of messages that no server would accept. */
class MessageReaderTests {

    record Order(String orderId) {}

    private final List<ReceivedMessage> specified = new ArrayList<>();
    private final FakeClock clock = new FakeClock();

    private final ScriptedQueue queue = new ScriptedQueue();
    private final Subscription subscription =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), queue);
    private final Renewer renewer = ListenerRig.renewer(new ScriptedStore(), clock);
    private final Deliveries deliveries = ListenerRig.deliveries(renewer, Duration.ofSeconds(4), clock);

    private static Message message(String body, Map<String, MessageAttributeValue> attributes) {
        return Message.builder()
                .messageId(UUID.randomUUID().toString())
                .receiptHandle("handle")
                .body(body)
                .attributes(Map.of(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, "1"))
                .messageAttributes(attributes)
                .build();
    }

    private Optional<org.springframework.messaging.Message<Object>> read(
            MessagingMessageConverter<Message> converter, Message message) {
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setPayloadClass(Order.class);
        return read(MessageConversion.of(converter, context, new PayloadType(Order.class), List.of()), message);
    }

    private Optional<org.springframework.messaging.Message<Object>> read(
            MessageConversion conversion, Message message) {
        var polled = List.of(ReceivedMessage.received(
                new SqsMessage(subscription.queue(), message),
                subscription,
                subscription.settings(),
                clock.nanoTime()));
        return new MessageReader(conversion, deliveries, specified::add)
                .read(polled).stream().findFirst().map(read -> read.message());
    }

    private static SqsMessagingMessageConverter converter() {
        SqsMessagingMessageConverter converter = new SqsMessagingMessageConverter();
        // Spring Cloud AWS sets this mapper if it knows the payload type of a listener.
        converter.setPayloadTypeMapper(any -> null);
        return converter;
    }

    @Test
    void anyMessageIsReadAsWhatTheHandlerTakesOrReturned() {
        System.clearProperty(HostileMessages.HARMED);
        HostileMessages hostile = new HostileMessages(Long.getLong("hostile.seed", System.nanoTime()));
        SqsMessagingMessageConverter converter = converter();
        int returned = 0;
        try (CapturedLog log = new CapturedLog()) {
            for (int number = 0; number < 300; number++) {
                var read = read(converter, message(hostile.body(), hostile.attributes()));
                read.ifPresent(message -> assertThat(message.getPayload()).isInstanceOf(Order.class));
                returned += read.isPresent() ? 0 : 1;
            }
            assertThat(HostileMessages.leaksIn(log.text())).isEmpty();
        }

        renewer.tick();
        assertThat(returned).isBetween(50, 290);
        assertThat(queue.changes()).hasSize(returned);
        assertThat(System.getProperty(HostileMessages.HARMED)).isNull();
    }

    /** The payloads of ten messages of one megabyte each would use 300 MB before a thread can handle any of them. */
    @Test
    void payloadOfALargeMessageIsNotKeptUntilItsHandlerIsCalled() {
        String large = "{\"orderId\":\"" + "1".repeat(MessageReader.LARGE) + "\"}";
        Reference<?> first = payloadWhileSpecified(large);

        await().atMost(Duration.ofSeconds(5)).until(() -> {
            System.gc();
            return first.refersTo(null);
        });
        assertThat(specified.get(0).message().getPayload())
                .isInstanceOfSatisfying(
                        Order.class, order -> assertThat(order.orderId()).hasSize(MessageReader.LARGE));
        Reference<?> small = payloadWhileSpecified("{\"orderId\":\"1\"}");
        System.gc();
        assertThat(small.get()).isSameAs(specified.get(1).message().getPayload());
    }

    private Reference<?> payloadWhileSpecified(String body) {
        List<Reference<?>> payloads = new ArrayList<>();
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setPayloadClass(Order.class);
        var conversion = MessageConversion.of(converter(), context, new PayloadType(Order.class), List.of());
        new MessageReader(conversion, deliveries, received -> {
                    payloads.add(new WeakReference<>(received.message().getPayload()));
                    specified.add(received);
                })
                .read(List.of(ReceivedMessage.received(
                        new SqsMessage(subscription.queue(), message(body, Map.of())),
                        subscription,
                        subscription.settings(),
                        clock.nanoTime())));
        return payloads.get(0);
    }

    record Refund(String orderId) {}

    /** A class that a sender names. The initializer of the class must never run. */
    static final class Harmful {
        static {
            System.setProperty("harmful.initialized", "true");
        }
    }

    @Test
    void senderNamesOneOfTheTypesThatTheHandlersOfAClassTake() {
        assertThat(payloadOfClass(Order.class.getName())).isInstanceOf(Order.class);
        assertThat(payloadOfClass(Refund.class.getName())).isInstanceOf(Refund.class);
        assertThat(payloadOfClass(Harmful.class.getName())).isEqualTo("{}");
        assertThat(payloadOfClass("no.such.Type")).isEqualTo("{}");
        assertThat(System.getProperty("harmful.initialized")).isNull();
    }

    private Object payloadOfClass(String type) {
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setSqsAsyncClient(mock(SqsAsyncClient.class));
        context.setQueueAttributes(new QueueAttributes("orders", "https://sqs/1/orders", Map.of()));
        var conversion = MessageConversion.of(
                converter(), context, null, List.of(new PayloadType(Order.class), new PayloadType(Refund.class)));
        MessageAttributeValue named = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(type)
                .build();
        return read(conversion, message("{}", Map.of("JavaType", named)))
                .orElseThrow()
                .getPayload();
    }

    record Line(int amount) {}

    record Basket(List<Line> lines, Map<String, Line> byCard) {}

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"lines\":[{\"amount\":1},{\"amount\":\"4111\"},{\"amount\":\"x4111\"}]} | at $.lines[2].amount",
                "{\"byCard\":{\"4111\":{\"amount\":\"x\"}}} | at $.byCard.*.amount",
                "{\"lines\" 4111        | at line 1, column",
            })
    void reasonNamesThePlaceAndNeverWhatStandsThere(String body, String place) {
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setPayloadClass(Basket.class);
        try (CapturedLog log = new CapturedLog(MessageReader.class)) {
            assertThat(read(
                            MessageConversion.of(converter(), context, new PayloadType(Basket.class), List.of()),
                            message(body, Map.of())))
                    .isEmpty();

            assertThat(log.text())
                    .contains("cannot be read as " + Basket.class.getName(), place, "DEBUG of", "Why message")
                    .contains("at tools.jackson")
                    .doesNotContain("4111", "handle,");
        }
    }
}
