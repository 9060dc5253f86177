package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.MessageHeaderUtils;
import io.awspring.cloud.sqs.MessagingHeaders;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.converter.AbstractMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.ContextAwareMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.CompositeMessageConverter;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.messaging.converter.SmartMessageConverter;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.util.NumberUtils;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Converts messages with the application's converter to the payload that the listener takes. Senders cannot choose more
 * than that:
 * <ul>
 * <li>Headers: Spring Cloud AWS lets attributes replace its own headers, such as the receipt handle, and loads any
 * class that a number's type names. Such attributes are left out or changed.
 * <li>The payload's class: among the types that the listener takes or permits, the sender may name one. Spring Cloud
 * AWS loads and makes any class that the sender names, unless a listener on a method shares the converter. So its
 * mapping is not used.
 * </ul>
 *
 * <p>A type with type arguments is read in full. Spring Cloud AWS passes only a class to its payload converter, so such
 * a payload is left as text, and then converted with the same payload converter.
 *
 * @param converter the application's
 * @param context for converters that require one
 * @param payload the type that a listener on a method takes; {@code null} if it is not known
 * @param named the types that senders may name, by name
 */
public record MessageConversion(
        MessagingMessageConverter<Message> converter,
        @Nullable MessageConversionContext context,
        @Nullable PayloadType payload,
        Map<String, PayloadType> named) {

    /** Micrometer casts the value of a header with this name to an observation. */
    public static final String OBSERVATION = "micrometer.observation";

    /** A name that senders with Spring Cloud AWS leave in the attributes. */
    private static final String HARMLESS = SqsHeaders.SQS_DELAY_HEADER;

    private static final Set<String> RESERVED =
            Set.of(ReceivedMessage.HEADER, MessagingHeaders.ACKNOWLEDGMENT_CALLBACK_HEADER, OBSERVATION);

    private static final int LONGEST_TYPE = 500;

    private static final String NUMBER = "Number";

    /**
     * The number types that Spring Cloud AWS reads. It would load any other class, and run its initializer, before it
     * rejects the class.
     */
    private static final Set<String> NUMBERS = Stream.concat(
                    Stream.of("byte", "short", "int", "long", "float", "double", Number.class.getName()),
                    NumberUtils.STANDARD_NUMBER_TYPES.stream().map(Class::getName))
            .map(type -> type.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());

    /** Returns a conversion for a listener on a method, or on a class. */
    public static MessageConversion of(
            MessagingMessageConverter<Message> converter,
            @Nullable MessageConversionContext context,
            @Nullable PayloadType payload,
            List<PayloadType> takenByClass) {
        Map<String, PayloadType> named = new HashMap<>();
        List<PayloadType> taken = payload == null ? takenByClass : List.of(payload);
        taken.forEach(type -> type.permitted().forEach(named::putIfAbsent));
        return new MessageConversion(converter, contextOf(payload, context), payload, Map.copyOf(named));
    }

    /** Returns what messages are read as, for log messages. */
    public String readAs() {
        return payload == null ? "its payload type" : payload.raw().getName();
    }

    public org.springframework.messaging.Message<?> convert(Message received) {
        Message message = tame(received);
        String name = name(message);
        String hidden = mapsAnyName() ? name : null;
        PayloadType chosen = name != null && (payload == null || hidden != null) ? named.get(name) : null;
        PayloadType wanted = chosen == null ? payload : chosen;
        org.springframework.messaging.Message<?> converted = hidden == null
                ? toMessage(message, wanted)
                : MessageHeaderUtils.addHeaderIfAbsent(
                        toMessage(without(message), wanted), SqsHeaders.SQS_DEFAULT_TYPE_HEADER, hidden);
        return wanted == null || wanted.full() == null ? converted : inFull(converted, message, wanted);
    }

    private static @Nullable String name(Message message) {
        MessageAttributeValue attribute = message.messageAttributes().get(SqsHeaders.SQS_DEFAULT_TYPE_HEADER);
        return attribute == null ? null : attribute.stringValue();
    }

    /** Returns whether the converter would load and make any class that a sender names. */
    private boolean mapsAnyName() {
        return converter instanceof AbstractMessagingMessageConverter<?> spring
                && spring.isUsingDefaultPayloadTypeMapper();
    }

    private static Message without(Message message) {
        Map<String, MessageAttributeValue> others = new LinkedHashMap<>(message.messageAttributes());
        others.remove(SqsHeaders.SQS_DEFAULT_TYPE_HEADER);
        return message.toBuilder().messageAttributes(others).build();
    }

    private org.springframework.messaging.Message<?> toMessage(Message message, @Nullable PayloadType wanted) {
        org.springframework.messaging.Message<?> converted =
                converter instanceof ContextAwareMessagingMessageConverter<Message> aware
                        ? aware.toMessagingMessage(message, contextOf(wanted, context))
                        : converter.toMessagingMessage(message);
        return Objects.requireNonNull(converted, "The message converter returned nothing");
    }

    /** Returns a context with the class to read; {@code null} if the payload is left as text. */
    private static @Nullable MessageConversionContext contextOf(
            @Nullable PayloadType wanted, @Nullable MessageConversionContext context) {
        if (wanted == null || context == null || context.getClass() != SqsMessageConversionContext.class) {
            return context;
        }
        Class<?> type = wanted.full() == null ? wanted.raw() : null;
        SqsMessageConversionContext sqs = (SqsMessageConversionContext) context;
        if (type == sqs.getPayloadClass()) {
            return sqs;
        }
        SqsMessageConversionContext own = new SqsMessageConversionContext();
        own.setQueueAttributes(Objects.requireNonNull(sqs.getQueueAttributes()));
        own.setSqsAsyncClient(Objects.requireNonNull(sqs.getSqsAsyncClient()));
        if (type != null) {
            own.setPayloadClass(type);
        }
        return own;
    }

    private org.springframework.messaging.Message<?> inFull(
            org.springframework.messaging.Message<?> converted, Message source, PayloadType wanted) {
        Object payload = converted.getPayload();
        // The application's payload type mapper can choose the same class, without type arguments.
        Object text = converter.getClass() == SqsMessagingMessageConverter.class && wanted.isReadAsItsClass(payload)
                ? source.body()
                : payload;
        if (!(text instanceof String) || !(payloads(converter) instanceof SmartMessageConverter payloads)) {
            // The application's own converter has made this payload.
            return converted;
        }
        Object full = payloads.fromMessage(
                MessageBuilder.createMessage(text, converted.getHeaders()), wanted.raw(), wanted.full());
        return MessageBuilder.createMessage(
                Objects.requireNonNull(full, "The payload converter returned nothing"), converted.getHeaders());
    }

    private static @Nullable MessageConverter payloads(MessagingMessageConverter<?> converter) {
        return converter instanceof AbstractMessagingMessageConverter<?> spring
                ? spring.getPayloadMessageConverter()
                : null;
    }

    /** Returns whether a converter can read types in full, or does not use Spring's payload converters. */
    public static boolean readsInFull(MessagingMessageConverter<?> converter) {
        MessageConverter payloads = payloads(converter);
        return payloads == null
                || (payloads instanceof CompositeMessageConverter several
                        ? several.getConverters().stream().anyMatch(SmartMessageConverter.class::isInstance)
                        : payloads instanceof SmartMessageConverter);
    }

    /**
     * Returns the message with plain numbers, and without attributes that are named like our headers or those of Spring
     * Cloud AWS.
     */
    static Message tame(Message message) {
        Map<String, MessageAttributeValue> sent = message.messageAttributes();
        Map<String, MessageAttributeValue> tame = new LinkedHashMap<>();
        sent.forEach((name, value) -> {
            if (!isReserved(name) && !isCostly(name, value)) {
                tame.put(name, plain(value));
            }
        });
        return tame.equals(sent)
                ? message
                : message.toBuilder().messageAttributes(tame).build();
    }

    private static boolean isReserved(String name) {
        return RESERVED.contains(name) || (name.startsWith(SqsHeaders.SQS_HEADER_PREFIX) && !name.equals(HARMLESS));
    }

    /**
     * Returns whether an attribute would cost memory: Spring caches the last types that it has parsed, with all
     * parameters, as long as the JVM lives.
     */
    private static boolean isCostly(String name, MessageAttributeValue value) {
        return name.equals(MessageHeaders.CONTENT_TYPE)
                && value.stringValue() != null
                && value.stringValue().length() > LONGEST_TYPE;
    }

    private static MessageAttributeValue plain(MessageAttributeValue value) {
        String type = value.dataType();
        boolean named = type != null && type.startsWith(NUMBER + ".");
        return named && !NUMBERS.contains(type.substring(NUMBER.length() + 1).toLowerCase(Locale.ROOT))
                ? value.toBuilder().dataType(NUMBER).build()
                : value;
    }
}
