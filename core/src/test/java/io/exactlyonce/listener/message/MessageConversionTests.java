package io.exactlyonce.listener.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.util.ReflectionUtils;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

class MessageConversionTests {

    /** A class whose initializer records that the class was loaded. */
    static final class Gadget {
        static {
            System.setProperty("sender-attributes.loaded", "true");
        }
    }

    private static MessageAttributeValue attribute(String type, String value) {
        return MessageAttributeValue.builder().dataType(type).stringValue(value).build();
    }

    private static Message message(Map<String, MessageAttributeValue> attributes) {
        return Message.builder()
                .messageId(UUID.randomUUID().toString())
                .receiptHandle("handle")
                .body("body")
                .attributes(Map.of(MessageSystemAttributeName.SENDER_ID, "stranger"))
                .messageAttributes(attributes)
                .build();
    }

    private static MessageHeaders headers(Map<String, MessageAttributeValue> attributes) {
        return new SqsMessagingMessageConverter()
                .toMessagingMessage(MessageConversion.tame(message(attributes)), null)
                .getHeaders();
    }

    @Test
    void ordinaryMessageStaysTheSame() {
        Message message = message(Map.of(
                "tenant", attribute("String", "acme"),
                "ExactlyOnce-Key", attribute("String", "A-1"),
                "Sqs_Delay", attribute("Number.java.lang.Integer", "1"),
                "count", attribute("Number.int", "7")));

        assertThat(MessageConversion.tame(message)).isSameAs(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Sqs_VisibilityTimeout",
                "Sqs_QueueName",
                "Sqs_RawMessageId",
                "Sqs_Msa_MessageGroupId",
                "AcknowledgementCallback",
                "micrometer.observation",
                "ExactlyOnce_ReceivedMessage"
            })
    void sendersHeaderThatPassesForTheContainersIsDropped(String name) {
        assertThat(headers(Map.of(name, attribute("String", "forged"))).values())
                .doesNotContain("forged");
    }

    /** Spring caches 64 parsed content types, and a sender could make each of them very long. */
    @Test
    void longTypeOfContentIsDropped() {
        String longest = "application/json;charset=UTF-8;x=" + "y".repeat(467);
        assertThat(headers(Map.of("contentType", attribute("String", longest)))).containsEntry("contentType", longest);
        assertThat(headers(Map.of("contentType", attribute("String", longest + "y"))))
                .doesNotContainKey("contentType");
    }

    @Test
    void receiptHandleSenderAndSourceAreThoseOfSqs() {
        MessageHeaders headers = headers(Map.of(
                SqsHeaders.SQS_RECEIPT_HANDLE_HEADER, attribute("String", "forged"),
                SqsHeaders.SQS_SOURCE_DATA_HEADER, attribute("String", "forged"),
                SqsHeaders.MessageSystemAttributes.SQS_SENDER_ID, attribute("String", "forged")));

        assertThat(headers)
                .containsEntry(SqsHeaders.SQS_RECEIPT_HANDLE_HEADER, "handle")
                .containsEntry(SqsHeaders.MessageSystemAttributes.SQS_SENDER_ID, "stranger");
        assertThat(headers.get(SqsHeaders.SQS_SOURCE_DATA_HEADER)).isInstanceOf(Message.class);
    }

    @ParameterizedTest
    @CsvSource({
        "Number, java.math.BigDecimal",
        "Number.int, java.lang.Integer",
        "Number.Double, java.lang.Double",
        "Number.java.lang.Long, java.lang.Long",
        "Number.java.math.BigInteger, java.math.BigInteger",
        "Number.cents, java.math.BigDecimal",
        "Number.java.lang.Runtime, java.math.BigDecimal"
    })
    void numbersAreReadAsWhatTheyAreOrPlainly(String type, Class<?> read) {
        assertThat(headers(Map.of("amount", attribute(type, "7"))))
                .hasEntrySatisfying("amount", amount -> assertThat(amount).isInstanceOf(read));
    }

    @Test
    void noClassIsLoadedThatAnAttributesTypeNames() {
        String gadget = Gadget.class.getName();

        assertThat(headers(Map.of("amount", attribute("Number." + gadget, "7"))))
                .containsEntry("amount", new BigDecimal(7));
        assertThat(System.getProperty("sender-attributes.loaded")).isNull();
    }

    record Order(String orderId) {}

    record Envelope<T>(T data) {}

    static class Envelopes {
        public @Nullable Order data;
    }

    @SuppressWarnings("unused")
    private static void takes(Envelope<Order> order) {}

    private static final Message ENVELOPE =
            message(Map.of("JavaType", attribute("String", Envelope.class.getName()))).toBuilder()
                    .body("{\"data\":{\"orderId\":\"A-1\"}}")
                    .build();

    private static PayloadType full() {
        Method method = ReflectionUtils.findMethod(MessageConversionTests.class, "takes", Envelope.class);
        MethodParameter parameter = new MethodParameter(Objects.requireNonNull(method), 0);
        return PayloadType.of(parameter, ResolvableType.forMethodParameter(parameter));
    }

    private static Object read(MessagingMessageConverter<Message> converter, Message message) {
        return MessageConversion.of(converter, new SqsMessageConversionContext(), full(), List.of())
                .convert(message)
                .getPayload();
    }

    /** An application's mapper names only the class of the payload, and the listener declares the type arguments. */
    @Test
    void fullTypeIsReadWhateverClassAMapperNames() {
        SqsMessagingMessageConverter mapping = new SqsMessagingMessageConverter();
        mapping.setPayloadTypeMapper(message -> Envelope.class);
        SqsMessagingMessageConverter disabled = new SqsMessagingMessageConverter();
        disabled.setPayloadTypeMapper(message -> null);

        for (var converter : List.of(mapping, disabled, new SqsMessagingMessageConverter())) {
            assertThat(read(converter, ENVELOPE)).isEqualTo(new Envelope<>(new Order("A-1")));
        }
    }

    /**
     * If a mapper returns a subclass of the class that the listener declares, the payload is an instance of the
     * subclass.
     */
    @Test
    void classWithoutTypeArgumentsThatAMapperNamesIsKept() {
        SqsMessagingMessageConverter mapping = new SqsMessagingMessageConverter();
        mapping.setPayloadTypeMapper(message -> Envelopes.class);

        assertThat(read(mapping, ENVELOPE)).isInstanceOf(Envelopes.class);
    }

    @Test
    void payloadThatTheApplicationsOwnConverterMakesIsKept() {
        Envelope<String> own = new Envelope<>("its own");
        MessagingMessageConverter<Message> converter = new SqsMessagingMessageConverter() {
            @Override
            public org.springframework.messaging.Message<?> toMessagingMessage(
                    Message message, @Nullable MessageConversionContext context) {
                return MessageBuilder.withPayload(own).build();
            }
        };

        assertThat(read(converter, ENVELOPE)).isSameAs(own);
    }

    /** The header contains the type that the sender wrote. The converter never loads that class. */
    @Test
    void nameOfATypeStaysAHeader() {
        org.springframework.messaging.Message<?> read = MessageConversion.of(
                        new SqsMessagingMessageConverter(),
                        context(),
                        null,
                        List.of(full(), new PayloadType(Order.class)))
                .convert(ENVELOPE);

        assertThat(read.getHeaders()).containsEntry("JavaType", Envelope.class.getName());
        assertThat(read.getPayload()).isEqualTo(new Envelope<>(new Order("A-1")));
    }

    private static SqsMessageConversionContext context() {
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setSqsAsyncClient(mock(SqsAsyncClient.class));
        context.setQueueAttributes(new QueueAttributes("orders", "https://sqs/1/orders", Map.of()));
        return context;
    }

    @Test
    void onlyPayloadConvertersThatTakeHintsReadInFull() {
        SqsMessagingMessageConverter plain = new SqsMessagingMessageConverter();
        plain.setPayloadMessageConverter(new MessageConverter() {
            @Override
            public Object fromMessage(org.springframework.messaging.Message<?> message, Class<?> target) {
                return message.getPayload();
            }

            @Override
            public org.springframework.messaging.Message<?> toMessage(
                    Object payload, @Nullable MessageHeaders headers) {
                throw new UnsupportedOperationException();
            }
        });

        assertThat(MessageConversion.readsInFull(plain)).isFalse();
        assertThat(MessageConversion.readsInFull(new SqsMessagingMessageConverter()))
                .isTrue();
    }
}
