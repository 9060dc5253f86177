package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.exactlyonce.visibility.QueueAddress;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.util.StringUtils;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * A message's data from SQS itself, independent of its headers.
 *
 * @param queue the queue's name
 * @param source as SQS delivered it
 */
public record SqsMessage(String queue, software.amazon.awssdk.services.sqs.model.Message source) {

    /**
     * Reads Spring Cloud AWS's headers by their types, because senders can set headers, but only texts, numbers and
     * bytes.
     *
     * @return empty if such a header is missing or replaced
     */
    public static Optional<SqsMessage> fromAwspring(Message<?> message) {
        return message.getHeaders().get(SqsHeaders.SQS_SOURCE_DATA_HEADER)
                                instanceof software.amazon.awssdk.services.sqs.model.Message source
                        && message.getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER)
                                instanceof QueueAttributes queue
                ? Optional.of(new SqsMessage(QueueAddress.name(queue.getQueueUrl()), source))
                : Optional.empty();
    }

    /** Returns the URL of the queue of a message from which this was read. */
    public static String queueUrl(Message<?> message) {
        return Objects.requireNonNull(
                        message.getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER, QueueAttributes.class))
                .getQueueUrl();
    }

    public String messageId() {
        return source.messageId();
    }

    public String body() {
        return source.body();
    }

    /** Returns how often SQS has delivered the message; 1 where a server other than AWS does not give a number. */
    public int receiveCount() {
        String count = source.attributesAsStrings()
                .getOrDefault(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT.toString(), "");
        return count.matches("\\d{1,9}") ? Integer.parseInt(count) : 1;
    }

    /**
     * Returns the message attribute that carries the idempotency key; {@code null} if there is none. An attribute
     * without text, such as a binary one, counts as blank, so it is not usable.
     */
    public @Nullable String keyAttribute() {
        MessageAttributeValue attribute = source.messageAttributes().get(ReceivedMessage.KEY_ATTRIBUTE);
        if (attribute == null) {
            return null;
        }
        return StringUtils.hasText(attribute.stringValue()) ? attribute.stringValue() : "";
    }
}
