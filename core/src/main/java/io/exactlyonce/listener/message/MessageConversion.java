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
 * Converts a message from SQS to a Spring message, with the application's converter. Senders are not trusted, so this
 * class limits two things that a sender could choose:
 * <ul>
 *   <li>Headers: Spring Cloud AWS makes a header of each message attribute. A sender's attribute could replace Spring
 *       Cloud AWS's own header, such as the receipt handle. An attribute of the type {@code Number.com.acme.Gadget}
 *       would load the class {@code com.acme.Gadget}. This class removes or changes such attributes.
 *   <li>The payload's class: by default, Spring Cloud AWS creates objects of any class that the sender names in the
 *       attribute {@code JavaType}. This class accepts only the listener's payload type and its known subclasses.
 * </ul>
 *
 * <p>Type arguments are kept, too. Spring Cloud AWS would pass only the class {@code List} to its payload converter, so
 * a {@code List<Order>} would become a list of maps. This class lets Spring Cloud AWS leave such a payload as text.
 * Then this class converts the text, with the same payload converter and the full type.
 *
 * @param context passed to the converter if the converter takes a context
 * @param payload the payload type, if the listener is one method; {@code null} if the type is not known, or if the
 *     listener is a class
 * @param named the types that senders may name. The map's keys are class names
 */
public record MessageConversion(
        MessagingMessageConverter<Message> converter,
        @Nullable MessageConversionContext context,
        @Nullable PayloadType payload,
        Map<String, PayloadType> named) {

    /**
     * A header that senders must not set. Its value is cast to Micrometer's class {@code Observation}, and the cast
     * would fail for a text.
     */
    public static final String OBSERVATION = "micrometer.observation";

    /**
     * The header for a message's delay, which senders may set. All other headers with SQS's prefix are removed from a
     * sender's attributes. But Spring Cloud AWS itself sends this header as an attribute, and a false value does no
     * harm.
     */
    private static final String HARMLESS = SqsHeaders.SQS_DELAY_HEADER;

    private static final Set<String> RESERVED =
            Set.of(ReceivedMessage.HEADER, MessagingHeaders.ACKNOWLEDGMENT_CALLBACK_HEADER, OBSERVATION);

    private static final int LONGEST_TYPE = 500;

    private static final String NUMBER = "Number";

    /**
     * The number types that Spring Cloud AWS can read. An attribute with another type, such as {@code
     * Number.com.acme.Gadget}, becomes a plain number. Otherwise Spring Cloud AWS would load that class and run its
     * static initializer.
     */
    private static final Set<String> NUMBERS = Stream.concat(
                    Stream.of("byte", "short", "int", "long", "float", "double", Number.class.getName()),
                    NumberUtils.STANDARD_NUMBER_TYPES.stream().map(Class::getName))
            .map(type -> type.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());

    /**
     * Creates a conversion for a listener.
     *
     * @param payload the payload type of a listener that is one method; {@code null} if the type is not known, or if
     *     the listener is a class
     * @param takenByClass the payload types of the methods, if the listener is a class
     */
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

    /** Returns the name of the payload's class, for log messages. */
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

    /**
     * Returns whether the converter would create objects of any class that a sender names, as Spring Cloud AWS does by
     * default.
     */
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

    /**
     * Returns a context that names the payload's class to Spring Cloud AWS. If the type has type arguments, the context
     * names no class, so that the payload stays text. If the application uses a context class of its own, returns that
     * context unchanged.
     */
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
        // The application may map types itself, so the payload may already be an object. This object was read without
        // type arguments, so the body is read again.
        Object text = converter.getClass() == SqsMessagingMessageConverter.class && wanted.isReadAsItsClass(payload)
                ? source.body()
                : payload;
        if (!(text instanceof String) || !(payloads(converter) instanceof SmartMessageConverter payloads)) {
            // The payload cannot be converted again, because it is no longer text, or because the payload converter
            // cannot read type arguments.
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

    /**
     * Returns whether a converter can read a type with its type arguments, such as {@code List<Order>}. Returns true if
     * the converter's payload converter is not known.
     */
    public static boolean readsInFull(MessagingMessageConverter<?> converter) {
        MessageConverter payloads = payloads(converter);
        return payloads == null
                || (payloads instanceof CompositeMessageConverter several
                        ? several.getConverters().stream().anyMatch(SmartMessageConverter.class::isInstance)
                        : payloads instanceof SmartMessageConverter);
    }

    /**
     * Removes message attributes that are named like the frameworks' own headers, and very long content types. Number
     * attributes of unknown types become plain numbers.
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
     * Returns whether an attribute is a very long content type. Spring caches parsed content types as long as the JVM
     * lives, so a sender could fill the memory with long ones.
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
