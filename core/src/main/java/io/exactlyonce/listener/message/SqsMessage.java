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

/** A message as SQS delivered it. Changes of the Spring message's headers do not affect this object. */
public record SqsMessage(String queue, software.amazon.awssdk.services.sqs.model.Message source) {

    /**
     * The longest age that counts as known. SQS keeps no message for so long, so with a longer age, the time of sending
     * or the time of the answer must be wrong.
     */
    private static final Duration LONGEST_AGE = Duration.ofDays(365);

    /**
     * The most characters of a message's ID, twice the length that SQS documents. The length is limited because IDs are
     * kept in memory while messages are in flight.
     */
    private static final int LONGEST_ID = 200;

    /**
     * The most characters of a receipt handle. The length is limited because one request contains the handles of ten
     * messages.
     */
    private static final int LONGEST_HANDLE = 2_048;

    /**
     * Returns the message from the headers that Spring Cloud AWS sets. Senders can also set headers, but only to texts,
     * numbers and bytes. So a header counts only if its value has the type that Spring Cloud AWS uses.
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
     * Returns the queue's URL from a message's headers. Requires that {@link #fromSpringCloudAws} has returned a value for
     * the message.
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
     * Returns what is wrong with the message's ID or receipt handle; {@code null} if both are usable. Without a usable
     * ID and a usable receipt handle, the message can neither be handled nor returned.
     */
    public @Nullable String flaw() {
        String flaw = flaw("message ID", messageId(), LONGEST_ID);
        return flaw == null ? flaw("receipt handle", receiptHandle(), LONGEST_HANDLE) : flaw;
    }

    /**
     * Returns what is wrong with a text from a server; {@code null} if nothing is wrong. The text must not be blank or
     * too long, and must consist of printable ASCII characters.
     *
     * @param what a name of the text for people, such as "receipt handle"
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
     * Returns the message's group on a FIFO queue. Returns an empty text on a standard queue, because groups serve only
     * fairness on such a queue, and keep no order.
     */
    public String group() {
        return FifoUtils.isFifo(queue) ? attribute(MessageSystemAttributeName.MESSAGE_GROUP_ID, "") : "";
    }

    /**
     * Returns how often SQS has delivered the message. Returns 1 if the count is missing, or is not a number, which
     * servers other than AWS may send.
     */
    public int receiveCount() {
        long count = number(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, 1);
        return (int) Math.max(1, Math.min(count, Integer.MAX_VALUE));
    }

    /**
     * Returns how old the message was when SQS answered; {@code null} if the age is not known or not plausible. Returns
     * zero instead of a negative age: the answer's date has whole seconds, so a message that was sent in the same
     * second seems to have been sent later.
     *
     * @param answeredAt the date in SQS's answer; {@code null} if the date is not known. This date is used instead of
     *     this machine's clock, which may differ from SQS's clock
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
     * Returns the idempotency key from its message attribute; {@code null} if the message has no such attribute.
     * Returns an empty text, which is not a usable key, if the attribute has no text, such as a binary attribute.
     */
    public @Nullable String keyAttribute() {
        MessageAttributeValue attribute = source.messageAttributes().get(ReceivedMessage.KEY_ATTRIBUTE);
        if (attribute == null) {
            return null;
        }
        return StringUtils.hasText(attribute.stringValue()) ? attribute.stringValue() : "";
    }
}
