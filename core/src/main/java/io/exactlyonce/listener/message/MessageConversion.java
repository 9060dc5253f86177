package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.MessagingHeaders;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.converter.ContextAwareMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.util.NumberUtils;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Converts messages with the application's converter, to the payload that the listener takes, and keeps senders from choosing more
 * than that:
 *
 * <ul>
 *   <li>Which attributes become headers: Spring Cloud AWS lets them replace its own headers, such as the receipt
 *       handle, and loads any class that a number's type names.
 *   <li>Which class the payload is: of several that the handlers of a class take, the sender names one. Spring Cloud
 *       AWS reads that name with a mapper of the converter, which it turns off if any listener on a method shares the
 *       converter; so the context also has the name, where the mapper's answer comes first.
 * </ul>
 *
 * @param converter the application's
 * @param context for converters that want one
 * @param payloadType what the handler takes, if it is known
 * @param takenByClass what the handlers of a class take; empty for a listener on a method
 */
public record MessageConversion(
        MessagingMessageConverter<Message> converter,
        @Nullable MessageConversionContext context,
        @Nullable Class<?> payloadType,
        Set<Class<?>> takenByClass) {

    /** Micrometer casts what it finds under this name to an observation. */
    public static final String OBSERVATION = "micrometer.observation";

    /** Senders that use Spring Cloud AWS leave it in the attributes. */
    private static final String HARMLESS = SqsHeaders.SQS_DELAY_HEADER;

    private static final Set<String> RESERVED =
            Set.of(ReceivedMessage.HEADER, MessagingHeaders.ACKNOWLEDGMENT_CALLBACK_HEADER, OBSERVATION);

    private static final String NUMBER = "Number";

    /**
     * The types that Spring Cloud AWS reads; it would load any other class, and run its initializer, before rejecting
     * it.
     */
    private static final Set<String> NUMBERS = Stream.concat(
                    Stream.of("byte", "short", "int", "long", "float", "double", Number.class.getName()),
                    NumberUtils.STANDARD_NUMBER_TYPES.stream().map(Class::getName))
            .map(type -> type.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());

    public org.springframework.messaging.Message<?> convert(Message received) {
        Message message = tame(received);
        org.springframework.messaging.Message<?> converted =
                converter instanceof ContextAwareMessagingMessageConverter<Message> aware
                        ? aware.toMessagingMessage(message, context(message))
                        : converter.toMessagingMessage(message);
        return Objects.requireNonNull(converted, "The message converter returned nothing");
    }

    private @Nullable MessageConversionContext context(Message message) {
        if (takenByClass.isEmpty() || context == null || context.getClass() != SqsMessageConversionContext.class) {
            return context;
        }
        return named(message)
                .<MessageConversionContext>map(type -> with(type, (SqsMessageConversionContext) context))
                .orElse(context);
    }

    /** Returns the type that the sender names, if a handler takes it: senders may choose no other class. */
    private Optional<Class<?>> named(Message message) {
        MessageAttributeValue attribute = message.messageAttributes().get(SqsHeaders.SQS_DEFAULT_TYPE_HEADER);
        String name = attribute == null ? null : attribute.stringValue();
        return name == null ? Optional.empty() : load(name).filter(this::isTaken);
    }

    /** Does not run the class's initializer: the name may be any. */
    private static Optional<Class<?>> load(String name) {
        try {
            return Optional.of(Class.forName(name, false, ClassUtils.getDefaultClassLoader()));
        } catch (ClassNotFoundException absent) {
            return Optional.empty();
        }
    }

    private boolean isTaken(Class<?> type) {
        return takenByClass.stream().anyMatch(taken -> taken.isAssignableFrom(type));
    }

    private static SqsMessageConversionContext with(Class<?> type, SqsMessageConversionContext context) {
        SqsMessageConversionContext named = new SqsMessageConversionContext();
        named.setQueueAttributes(Objects.requireNonNull(context.getQueueAttributes()));
        named.setSqsAsyncClient(Objects.requireNonNull(context.getSqsAsyncClient()));
        named.setPayloadClass(type);
        return named;
    }

    /** Returns the message without attributes named like our headers or Spring Cloud AWS's, and with plain numbers. */
    static Message tame(Message message) {
        Map<String, MessageAttributeValue> sent = message.messageAttributes();
        Map<String, MessageAttributeValue> tame = new LinkedHashMap<>();
        sent.forEach((name, value) -> {
            if (!isReserved(name)) {
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

    private static MessageAttributeValue plain(MessageAttributeValue value) {
        String type = value.dataType();
        boolean named = type != null && type.startsWith(NUMBER + ".");
        return named && !NUMBERS.contains(type.substring(NUMBER.length() + 1).toLowerCase(Locale.ROOT))
                ? value.toBuilder().dataType(NUMBER).build()
                : value;
    }
}
