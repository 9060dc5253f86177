package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.support.converter.MessagingMessageHeaders;
import io.exactlyonce.delivery.Delivery;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * What the engine knows of a message from SQS itself. It travels with the message as a header: senders choose headers
 * too, but they cannot make an object of this type.
 */
public final class ReceivedMessage {

    /** The message attribute that senders may put the idempotency key into. */
    public static final String KEY_ATTRIBUTE = "ExactlyOnce-Key";

    /** The header under which it travels. */
    static final String HEADER = "ExactlyOnce_ReceivedMessage";

    private final Delivery delivery;
    private final PolledMessage polled;
    private final String group;

    /**
     * @param delivery the delivery
     * @param keyAttribute the message attribute that carries the idempotency key, if there is one
     * @param group the message's group on a FIFO queue, empty on a standard one
     * @param body the body as SQS delivered it
     */
    public ReceivedMessage(Delivery delivery, @Nullable String keyAttribute, String group, String body) {
        this.delivery = delivery;
        this.polled = new PolledMessage(delivery.subscription().queue(), delivery.messageId(), keyAttribute, body);
        this.group = group;
    }

    public Delivery delivery() {
        return delivery;
    }

    public String group() {
        return group;
    }

    /** Returns what SQS itself says of the message. */
    public PolledMessage polled() {
        return polled;
    }

    /** Leaves the body out: it travels among the headers, which applications may log. */
    @Override
    public String toString() {
        return delivery.toString();
    }

    /**
     * Puts this and further headers among a message's. All in one step, since each copies all headers. They win over message
     * attributes of the same names.
     */
    public <T> Message<T> attachTo(Message<T> message, Map<String, Object> further) {
        MessageHeaders existing = message.getHeaders();
        Map<String, Object> headers = new HashMap<>(existing);
        headers.putAll(further);
        headers.put(HEADER, this);
        return new GenericMessage<>(
                message.getPayload(), new MessagingMessageHeaders(headers, existing.getId(), existing.getTimestamp()));
    }

    /** Returns what is known of a message that is about to be handled. */
    public static ReceivedMessage require(Message<?> message) {
        return of(message)
                .orElseThrow(() -> new IllegalStateException(
                        "Nothing is known of this message's delivery: its listener's container was not prepared by an "
                                + "exactly-once container factory, or an interceptor dropped the message's headers"));
    }

    public static Optional<ReceivedMessage> of(Message<?> message) {
        return message.getHeaders().get(HEADER) instanceof ReceivedMessage received
                ? Optional.of(received)
                : Optional.empty();
    }
}
