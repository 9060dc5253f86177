package io.exactlyonce.listener.expression;

import static io.exactlyonce.listener.expression.Known.Origin.MESSAGE;
import static io.exactlyonce.listener.expression.Known.Origin.SHARED;

import io.awspring.cloud.sqs.MessagingHeaders;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.SqsHeaders.MessageSystemAttributes;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.messaging.MessageHeaders;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * Decides which headers may be in a key. Spring, Spring Cloud AWS, SQS and this library set headers, and not all of
 * these identify a message. All other headers are set by the sender.
 */
final class FrameworkHeaders {

    static final String BUSINESS_KEY =
            "name what the sender chose, such as #order.orderId; for redeliveries alone, leave the key out, or write "
                    + "#headers['%s'], the SQS message id".formatted(SqsHeaders.SQS_RAW_MESSAGE_ID_HEADER);

    /**
     * Headers that Spring sets on each message. If a sender's attribute has the same name, it does not become a header.
     */
    private static final Set<String> SPRING = Set.of(MessageHeaders.ID, MessageHeaders.TIMESTAMP);

    /** Headers that no expression may read, each with the reason. Most of them have another value in each receive. */
    private static final Map<String, String> UNUSABLE = Map.ofEntries(
            Map.entry(SqsHeaders.SQS_RECEIPT_HANDLE_HEADER, "is another one for each receive"),
            Map.entry(SqsHeaders.SQS_RECEIVED_AT_HEADER, "is another time for each receive"),
            Map.entry(SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER, "belongs to one receive"),
            Map.entry(SqsHeaders.SQS_RECEIVE_REQUEST_ATTEMPT_ID_HEADER, "belongs to one receive"),
            Map.entry(MessagingHeaders.ACKNOWLEDGMENT_CALLBACK_HEADER, "belongs to one receive"),
            Map.entry(ReceivedMessage.HEADER, "belongs to one receive"),
            Map.entry(MessageConversion.OBSERVATION, "belongs to one receive"),
            Map.entry(MessageSystemAttributes.SQS_APPROXIMATE_RECEIVE_COUNT, "is another number for each receive"),
            Map.entry(
                    MessageSystemAttributes.SQS_APPROXIMATE_FIRST_RECEIVE_TIMESTAMP,
                    "is approximate, and another time after a redrive"),
            Map.entry(MessageSystemAttributes.MESSAGE_ID, "is only on messages that Spring Cloud AWS has sent"));

    /** Headers that stay the same when a message is redelivered, but may also be the same for unrelated messages. */
    private static final Map<String, Known> SHARED_BY_MESSAGES = Map.of(
            SqsHeaders.SQS_QUEUE_NAME_HEADER,
            Known.of(String.class, SHARED),
            SqsHeaders.SQS_QUEUE_URL_HEADER,
            Known.of(String.class, SHARED),
            SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER,
            Known.of(QueueAttributes.class, SHARED),
            MessageSystemAttributes.SQS_SENT_TIMESTAMP,
            Known.of(String.class, SHARED),
            MessageSystemAttributes.SQS_SENDER_ID,
            Known.of(String.class, SHARED),
            MessageSystemAttributes.SQS_AWS_TRACE_HEADER,
            Known.of(String.class, SHARED),
            MessageSystemAttributes.SQS_MSA_HEADER_PREFIX + MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN,
            Known.of(String.class, SHARED));

    /**
     * Headers that stay the same when a message is redelivered, and that the sender or SQS has chosen for this message.
     */
    private static final Map<String, Known> OWN = Map.of(
            SqsHeaders.SQS_SOURCE_DATA_HEADER, Known.of(Message.class, MESSAGE),
            SqsHeaders.SQS_RAW_MESSAGE_ID_HEADER, Known.of(String.class, MESSAGE),
            MessageSystemAttributes.SQS_SEQUENCE_NUMBER, Known.of(String.class, MESSAGE),
            MessageSystemAttributes.SQS_MESSAGE_GROUP_ID_HEADER, Known.of(String.class, MESSAGE),
            MessageSystemAttributes.SQS_MESSAGE_DEDUPLICATION_ID_HEADER, Known.of(String.class, MESSAGE));

    /** Maps the names of the headers above to their correct spelling. Lookups ignore case. */
    private static final Map<String, String> SPELLING = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

    static {
        Set.of(UNUSABLE.keySet(), SHARED_BY_MESSAGES.keySet(), OWN.keySet())
                .forEach(names -> names.forEach(name -> SPELLING.put(name, name)));
    }

    private final Refusal refusal;

    FrameworkHeaders(Refusal refusal) {
        this.refusal = refusal;
    }

    /** Returns whether this class has a rule for a header with exactly this name. */
    static boolean isJudged(String name) {
        return SPRING.contains(name) || name.equals(SPELLING.get(name));
    }

    boolean isMadeBySpring(String name) {
        return SPRING.contains(name);
    }

    /**
     * Returns what is known about a header.
     *
     * @throws RuntimeException if a key expression must not read the header, or if the header's name is misspelled
     */
    Known header(Object named) {
        String name = named.toString();
        if (SPRING.contains(name)) {
            throw refusal.of(
                    "reads the header '%s', which Spring makes for each message, and which never has the sender's attribute"
                            .formatted(name),
                    "write #headers['%s'].messageAttributes()['%s'].stringValue() for the attribute; for redeliveries alone, leave the key out"
                            .formatted(SqsHeaders.SQS_SOURCE_DATA_HEADER, name));
        }
        String reason = UNUSABLE.get(name);
        if (reason != null) {
            throw refusal.of("reads the header '%s', which %s".formatted(name, reason), BUSINESS_KEY);
        }
        String spelled = SPELLING.get(name);
        if (spelled != null && !spelled.equals(name) && name.startsWith(SqsHeaders.SQS_HEADER_PREFIX)) {
            throw refusal.of(
                    "reads the header '%s', which does not exist".formatted(name),
                    "write '%s' for Spring Cloud AWS's header; %s".formatted(spelled, BUSINESS_KEY));
        }
        Known shared = SHARED_BY_MESSAGES.get(name);
        return shared != null ? shared : OWN.getOrDefault(name, Known.unknown(MESSAGE));
    }

    /**
     * Returns what is known about a system attribute of SQS.
     *
     * @param named the attribute's name or the name of the SDK's constant, for example {@code SenderId} or {@code
     *     SENDER_ID}
     */
    Known systemAttribute(Object named) {
        String text = named.toString();
        for (MessageSystemAttributeName known : MessageSystemAttributeName.knownValues()) {
            if (known.name().equals(text)) {
                return header(MessageSystemAttributes.SQS_MSA_HEADER_PREFIX + known);
            }
        }
        return header(MessageSystemAttributes.SQS_MSA_HEADER_PREFIX + text);
    }
}
