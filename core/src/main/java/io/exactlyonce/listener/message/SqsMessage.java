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
 * A message as SQS delivered it. If an interceptor changes the Spring message's headers, this object stays the same.
 */
public record SqsMessage(String queue, software.amazon.awssdk.services.sqs.model.Message source) {

    /** A message that seems to be older than this has a wrong date, because SQS keeps messages for 14 days at most. */
    private static final Duration LONGEST_AGE = Duration.ofDays(365);

    /**
     * Limit of a message ID's length, in characters: twice the length that SQS documents. IDs stay in memory while
     * messages are in flight.
     */
    private static final int LONGEST_ID = 200;

    /**
     * The longest receipt handle that is accepted, in characters: twice the length that SQS documents. The limit exists
     * because handles are kept in memory, and because a request contains up to ten of them.
     */
    private static final int LONGEST_HANDLE = 2_048;

    /**
     * Reads the original message from the headers that Spring Cloud AWS sets. Senders can set headers only to texts,
     * numbers and bytes. So a header of another type cannot be forged.
     *
     * @return empty if one of these headers is missing or was replaced
     */
    public static Optional<SqsMessage> fromSpringCloudAws(Message<?> message) {
        return message.getHeaders().get(SqsHeaders.SQS_SOURCE_DATA_HEADER)
                                instanceof software.amazon.awssdk.services.sqs.model.Message source
                        && message.getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER)
                                instanceof QueueAttributes queue
                ? Optional.of(new SqsMessage(QueueAddress.name(queue.getQueueUrl()), source))
                : Optional.empty();
    }

    /**
     * Returns the URL of the message's queue. May be called only if {@link #fromSpringCloudAws} returns a value for the
     * message.
     */
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

    /**
     * Returns what is wrong with the message's ID or receipt handle; {@code null} if both are usable. Without them, the
     * message can neither be handled nor returned.
     */
    public @Nullable String flaw() {
        String flaw = flaw("message ID", messageId(), LONGEST_ID);
        return flaw == null ? flaw("receipt handle", receiptHandle(), LONGEST_HANDLE) : flaw;
    }

    /**
     * Returns what is wrong with a text from a server, for example that it is blank or too long; {@code null} if it is
     * usable. Only printable ASCII characters are permitted.
     *
     * @param what what the text is, for the problem's description (for example "receipt handle")
     */
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
     * Returns the message's group on a FIFO queue. Returns an empty text on a standard queue, where groups do not order
     * messages.
     */
    public String group() {
        return FifoUtils.isFifo(queue) ? attribute(MessageSystemAttributeName.MESSAGE_GROUP_ID, "") : "";
    }

    /**
     * Returns how often SQS has delivered the message. Returns 1 if the number is missing or unreadable, as it may be
     * on servers other than AWS.
     */
    public int receiveCount() {
        long count = number(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, 1);
        return (int) Math.max(1, Math.min(count, Integer.MAX_VALUE));
    }

    /**
     * Returns how old the message was when it was received; {@code null} if that is not known. The time of sending and
     * the time of receipt both come from SQS, because this machine's clock may be wrong. The time of receipt has no
     * fractions of a second. So if the message is new, its time of receipt may be before its time of sending. The age
     * is zero in that case.
     *
     * @param answeredAt the date of SQS's response; {@code null} if it is not known
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

    /** Looks up an attribute by its name. A lookup by enum constant would copy all attributes each time. */
    private String attribute(MessageSystemAttributeName name, String absent) {
        return source.attributesAsStrings().getOrDefault(name.toString(), absent);
    }

    /**
     * Returns the idempotency key that the sender has put into a message attribute; {@code null} if there is no such
     * attribute. Returns an empty text, which is refused as a key, if the attribute is not a text.
     */
    public @Nullable String keyAttribute() {
        MessageAttributeValue attribute = source.messageAttributes().get(ReceivedMessage.KEY_ATTRIBUTE);
        if (attribute == null) {
            return null;
        }
        return StringUtils.hasText(attribute.stringValue()) ? attribute.stringValue() : "";
    }
}
