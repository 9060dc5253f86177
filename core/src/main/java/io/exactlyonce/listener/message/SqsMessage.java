package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.FifoUtils;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.exactlyonce.queue.QueueAddress;
import java.time.Duration;
import java.time.Instant;
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
 * @param source the message as SQS delivered it
 */
public record SqsMessage(String queue, software.amazon.awssdk.services.sqs.model.Message source) {

    /** An age that no queue permits: one of the two times must be wrong. */
    private static final Duration LONGEST_AGE = Duration.ofDays(365);

    /**
     * Twice the length that SQS documents. Ids are kept while a message is in flight, and each request of ten contains
     * their handles.
     */
    private static final int LONGEST_ID = 200;

    private static final int LONGEST_HANDLE = 2_048;

    /**
     * Reads Spring Cloud AWS's headers by their types. Senders can set headers, but only to texts, numbers and bytes.
     *
     * @return empty if such a header is missing or replaced
     */
    public static Optional<SqsMessage> fromSpringCloudAws(Message<?> message) {
        return message.getHeaders().get(SqsHeaders.SQS_SOURCE_DATA_HEADER)
                                instanceof software.amazon.awssdk.services.sqs.model.Message source
                        && message.getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER)
                                instanceof QueueAttributes queue
                ? Optional.of(new SqsMessage(QueueAddress.name(queue.getQueueUrl()), source))
                : Optional.empty();
    }

    /** Returns the queue's URL from the headers of a message from which this was read. */
    public static String queueUrl(Message<?> message) {
        return Objects.requireNonNull(
                        message.getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER, QueueAttributes.class))
                .getQueueUrl();
    }

    public String messageId() {
        return source.messageId();
    }

    public String receiptHandle() {
        return source.receiptHandle();
    }

    public String body() {
        return source.body();
    }

    /** Returns the missing data without which the message can neither be handled nor returned; {@code null} if none is
     * missing. */
    public @Nullable String flaw() {
        String flaw = flaw("message ID", messageId(), LONGEST_ID);
        return flaw == null ? flaw("receipt handle", receiptHandle(), LONGEST_HANDLE) : flaw;
    }

    /** Returns what is wrong with a name from a server; {@code null} if nothing is. */
    public static @Nullable String flaw(String what, @Nullable String text, int longest) {
        if (text == null || text.isBlank()) {
            return "no " + what;
        }
        for (int at = 0; at < Math.min(text.length(), longest); at++) {
            if (text.charAt(at) <= ' ' || text.charAt(at) > '~') {
                return "a %s with other characters than printable ASCII".formatted(what);
            }
        }
        return text.length() > longest
                ? "a %s of %d characters, of which %d are permitted".formatted(what, text.length(), longest)
                : null;
    }

    /**
     * Returns the message's group on a FIFO queue. On a standard queue, groups serve fairness only, and keep no order.
     */
    public String group() {
        return FifoUtils.isFifo(queue) ? attribute(MessageSystemAttributeName.MESSAGE_GROUP_ID, "") : "";
    }

    /**
     * Returns how often SQS has delivered the message. A missing count, or text from a server other than AWS, counts as
     * 1.
     */
    public int receiveCount() {
        long count = number(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, 1);
        return (int) Math.max(1, Math.min(count, Integer.MAX_VALUE));
    }

    /**
     * Returns how old the message was when SQS answered; {@code null} if that is not known. An answer's date has whole
     * seconds, so the age of a message that was sent in the same second could be negative.
     *
     * @param answeredAt the answer's own date, so that differences between the clocks of this machine and the queue
     *     do not matter; {@code null} if it is not known
     */
    public @Nullable Duration age(@Nullable Instant answeredAt) {
        long sent = number(MessageSystemAttributeName.SENT_TIMESTAMP, -1);
        if (answeredAt == null || sent < 0) {
            return null;
        }
        Duration age = Duration.between(Instant.ofEpochMilli(sent), answeredAt);
        if (age.compareTo(LONGEST_AGE) > 0) {
            return null;
        }
        return age.isNegative() ? Duration.ZERO : age;
    }

    private long number(MessageSystemAttributeName name, long unknown) {
        try {
            return Long.parseLong(attribute(name, ""));
        } catch (NumberFormatException absent) {
            return unknown;
        }
    }

    /** Looks attributes up by name, because a lookup by enum constant copies all attributes each time. */
    private String attribute(MessageSystemAttributeName name, String absent) {
        return source.attributesAsStrings().getOrDefault(name.toString(), absent);
    }

    /**
     * Returns the message attribute that carries the idempotency key; {@code null} if there is none. An attribute
     * without text, such as a binary one, counts as blank, and so as unusable.
     */
    public @Nullable String keyAttribute() {
        MessageAttributeValue attribute = source.messageAttributes().get(ReceivedMessage.KEY_ATTRIBUTE);
        if (attribute == null) {
            return null;
        }
        return StringUtils.hasText(attribute.stringValue()) ? attribute.stringValue() : "";
    }
}
