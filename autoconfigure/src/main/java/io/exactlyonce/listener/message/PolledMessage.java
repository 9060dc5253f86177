package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.util.StringUtils;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * What SQS itself says of a message, whatever its headers say.
 *
 * @param queue the queue's name
 * @param messageId SQS's id of the message
 * @param keyAttribute the message attribute that carries the idempotency key, if there is one
 * @param body as SQS delivered it
 */
public record PolledMessage(
        String queue, String messageId, @Nullable String keyAttribute, String body) {

    /** Of a message that awspring has polled for itself. */
    public record FromAwspring(String receipt, PolledMessage message) {}

    /**
     * Reads the headers that awspring sets: by their types, for senders choose headers as well, but only texts, numbers and bytes.
     *
     * @return with the receipt handle; empty if such a header is missing or replaced
     */
    public static Optional<FromAwspring> fromAwspring(Message<?> message) {
        return message.getHeaders().get(SqsHeaders.SQS_SOURCE_DATA_HEADER)
                                instanceof software.amazon.awssdk.services.sqs.model.Message source
                        && message.getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER)
                                instanceof QueueAttributes queue
                ? Optional.of(new FromAwspring(
                        source.receiptHandle(),
                        new PolledMessage(
                                queue.getQueueUrl()
                                        .substring(queue.getQueueUrl().lastIndexOf('/') + 1),
                                source.messageId(),
                                keyAttribute(source),
                                source.body())))
                : Optional.empty();
    }

    /** An attribute without text, such as a binary one, counts as blank, so that it is no usable key. */
    static @Nullable String keyAttribute(software.amazon.awssdk.services.sqs.model.Message message) {
        MessageAttributeValue attribute = message.messageAttributes().get(ReceivedMessage.KEY_ATTRIBUTE);
        if (attribute == null) {
            return null;
        }
        return Optional.ofNullable(attribute.stringValue())
                .filter(StringUtils::hasText)
                .orElse("");
    }
}
