package io.exactlyonce;

import io.awspring.cloud.sqs.listener.SqsHeaders.MessageSystemAttributes;
import java.util.Map;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * The identity of a message that a handler sends, created by {@link Claim#followUp(String)}. All attempts at a key
 * create the same identity for the same name. A different name, key or scope has a different identity.
 *
 * <p>A receiving {@link ExactlyOnceListener} without a {@code key} claims this identity, so a repeated message has one
 * effect there. A listener with a {@code key} of its own ignores the identity. Other consumers see each repetition.
 *
 * <pre>{@code
 * sqs.send(to -> to.queue("shipments")
 *         .payload(new Shipment(order.orderId()))
 *         .headers(claim.followUp("shipped").headers()));
 * }</pre>
 *
 * <p>A repeated message must have the same content each time. If some fields change, the receiving listener's {@link
 * ExactlyOnceListener#fingerprint()} must select the fields that do not change.
 *
 * <p>Immutable. An outbox can store the identity as JSON within an event, or store only its {@link #key()}.
 *
 * @param key the key that the receiving listener claims: the 64 hexadecimal digits that {@link
 *     Claim#downstreamKey(String)} returns
 */
public record FollowUp(String key) {

    /** The name of the header and message attribute that carries the key. */
    public static final String KEY_ATTRIBUTE = "ExactlyOnce-Key";

    private static final int DIGITS = 64;

    /**
     * Restores the identity of a message from its stored key.
     *
     * @throws IllegalArgumentException if the key is not 64 hexadecimal digits, as returned by {@link
     *     Claim#downstreamKey(String)}
     */
    public FollowUp {
        if (key.length() != DIGITS || !key.chars().allMatch(FollowUp::isHexadecimal)) {
            throw new IllegalArgumentException(
                    "key (%d characters) of a follow-up message must have %d hexadecimal digits; take it from claim.followUp(name) while the handler runs, and store it unchanged"
                            .formatted(key.length(), DIGITS));
        }
    }

    /**
     * Returns the headers of a message to a standard queue, or to a topic with raw message delivery. Pass them to
     * {@code headers(..)} of {@code SqsTemplate} or {@code SqsOperations}, or to Spring's {@code MessageBuilder}. The
     * header becomes one of the ten message attributes that SQS permits.
     */
    public Map<String, Object> headers() {
        return Map.of(KEY_ATTRIBUTE, key);
    }

    /**
     * Returns the headers of a message to a FIFO queue: those of {@link #headers()}, and the deduplication ID, by which
     * SQS drops repetitions for five minutes. Do not use these headers for a standard queue, because AWS rejects a
     * deduplication ID there.
     */
    public Map<String, Object> fifoHeaders() {
        return Map.of(KEY_ATTRIBUTE, key, MessageSystemAttributes.SQS_MESSAGE_DEDUPLICATION_ID_HEADER, key);
    }

    /**
     * Returns the message attributes for a request of the AWS SDK. If the queue is a FIFO queue, also set {@code
     * messageDeduplicationId} to {@link #key()}.
     */
    public Map<String, MessageAttributeValue> attributes() {
        return Map.of(
                KEY_ATTRIBUTE,
                MessageAttributeValue.builder()
                        .dataType("String")
                        .stringValue(key)
                        .build());
    }

    private static boolean isHexadecimal(int character) {
        return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
    }
}
