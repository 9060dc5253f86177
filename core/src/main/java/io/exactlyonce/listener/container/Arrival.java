package io.exactlyonce.listener.container;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.visibility.QueueSettings;
import io.exactlyonce.visibility.Subscription;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * A message of an SQS response.
 *
 * @param settings the queue's settings when the request was sent, with the requested visibility timeout
 * @param receivedAt when the message's visibility timeout began, or earlier
 * @param answered the answer's own date, from which ages are taken, so that no clock of this machine is held against the queue's;
 *     {@code null} if it is not known
 */
record Arrival(
        Message message,
        Subscription subscription,
        QueueSettings settings,
        long receivedAt,
        @Nullable Instant answered) {

    /** Far beyond what any queue keeps: one of the two times is wrong. */
    private static final Duration LONGEST_AGE = Duration.ofDays(365);

    /** Twice what SQS documents. Ids are kept while a message is in flight, and each request of ten has their handles. */
    private static final int LONGEST_ID = 200;

    private static final int LONGEST_HANDLE = 2_048;

    /** Parsing a date is slow compared with other work for a message, and answers of one second have the same date. */
    private record Answered(String header, @Nullable Instant date) {}

    private static volatile Answered last = new Answered("", null);

    /** Returns the messages of an answer, in their order. */
    static List<Arrival> of(
            ReceiveMessageResponse response, Subscription subscription, QueueSettings requested, long receivedAt) {
        Instant answered = date(response.sdkHttpResponse());
        return response.messages().stream()
                .map(message -> new Arrival(message, subscription, requested, receivedAt, answered))
                .toList();
    }

    private static @Nullable Instant date(@Nullable SdkHttpResponse response) {
        String header =
                response == null ? null : response.firstMatchingHeader("Date").orElse(null);
        if (header == null) {
            return null;
        }
        Answered known = last;
        if (!known.header.equals(header)) {
            known = new Answered(header, parse(header));
            last = known;
        }
        return known.date;
    }

    private static @Nullable Instant parse(String date) {
        try {
            return Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
        } catch (DateTimeException unknown) {
            return null;
        }
    }

    /** Returns what the message lacks without which it can be neither handled nor returned; {@code null} if it is complete. */
    @Nullable String flaw() {
        String flaw = flaw("message ID", message.messageId(), LONGEST_ID);
        return flaw == null ? flaw("receipt handle", message.receiptHandle(), LONGEST_HANDLE) : flaw;
    }

    private static @Nullable String flaw(String what, @Nullable String text, int longest) {
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

    Arrival with(QueueSettings confirmed) {
        return new Arrival(message, subscription, confirmed, receivedAt, answered);
    }

    Delivery delivery() {
        return new Delivery(
                subscription, settings, message.messageId(), message.receiptHandle(), receiveCount(), receivedAt);
    }

    /** Returns its group on a FIFO queue. On a standard queue groups are for fairness only, and keep no order. */
    String group() {
        return subscription.isFifo() ? attribute(MessageSystemAttributeName.MESSAGE_GROUP_ID, "") : "";
    }

    /** A missing count, or text from a server other than AWS, counts as the first receive. */
    int receiveCount() {
        long count = number(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, 1);
        return (int) Math.max(1, Math.min(count, Integer.MAX_VALUE));
    }

    /**
     * Returns how old the message was; {@code null} if that is not known. A date has whole seconds, so a message that was sent in this
     * one would be younger than nothing.
     */
    @Nullable Duration age() {
        long sent = number(MessageSystemAttributeName.SENT_TIMESTAMP, -1);
        if (answered == null || sent < 0) {
            return null;
        }
        Duration age = Duration.between(Instant.ofEpochMilli(sent), answered);
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

    /** By text: to answer by enum constant, the message copies all of its attributes each time. */
    private String attribute(MessageSystemAttributeName name, String absent) {
        return message.attributesAsStrings().getOrDefault(name.toString(), absent);
    }
}
