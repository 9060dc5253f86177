package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.support.converter.ContextAwareMessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageConverter;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Converts messages with the application's converter, to the payload that the listener takes. Of several that the handlers of a
 * class take, the sender names one; awspring reads that name with a mapper of the converter, which it turns off as soon as any
 * listener on a method shares the converter. So the name is told in the context, too, where the mapper's answer comes first.
 *
 * @param converter the application's
 * @param context for converters that want one
 * @param payloadType what the handler takes, if it is known
 * @param takenByClass what the handlers of a class take; empty for a listener on a method
 */
public record PayloadConversion(
        MessagingMessageConverter<Message> converter,
        @Nullable MessageConversionContext context,
        @Nullable Class<?> payloadType,
        Set<Class<?>> takenByClass) {

    org.springframework.messaging.Message<?> convert(Message message) {
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

    /** Returns the type that the sender names, if it is one that a handler takes: no other class is any sender's to choose. */
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
        QueueAttributes queue = context.getQueueAttributes();
        if (queue != null) {
            named.setQueueAttributes(queue);
        }
        SqsAsyncClient client = context.getSqsAsyncClient();
        if (client != null) {
            named.setSqsAsyncClient(client);
        }
        named.setPayloadClass(type);
        return named;
    }
}
