package io.exactlyonce.listener.message;

import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.MessagingMessageHeaders;
import io.exactlyonce.FollowUp;
import io.exactlyonce.delivery.Attempt;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.Subscription;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * The engine's data of a message from SQS itself. A header carries this object. Senders can set headers, but cannot
 * create an object of this type.
 */
public final class ReceivedMessage implements Attempt.SentContent {

    /** The message attribute that senders may put the idempotency key into. */
    public static final String KEY_ATTRIBUTE = FollowUp.KEY_ATTRIBUTE;

    /** The header that carries this object. */
    public static final String HEADER = "ExactlyOnce_ReceivedMessage";

    private final Delivery delivery;
    private volatile @Nullable SqsMessage polled;
    private volatile @Nullable MessageHeaders sent;
    private volatile @Nullable Message<Object> message;
    private volatile @Nullable Supplier<Message<Object>> reading;

    public ReceivedMessage(Delivery delivery, SqsMessage polled) {
        this.delivery = delivery;
        this.polled = polled;
    }

    /**
     * Makes the delivery of a message.
     *
     * @param requested the queue's settings when the message was requested
     * @param receivedAt when the message's visibility timeout began, or earlier, by the monotonic clock
     */
    public static ReceivedMessage received(
            SqsMessage polled, Subscription subscription, QueueSettings requested, long receivedAt) {
        return new ReceivedMessage(
                new Delivery(
                        subscription,
                        requested,
                        polled.messageId(),
                        polled.receiptHandle(),
                        polled.receiveCount(),
                        receivedAt),
                polled);
    }

    /** Returns the message of a delivery that has not started, with other settings of its queue. */
    public ReceivedMessage requestedWith(QueueSettings settings) {
        return received(polled(), delivery.subscription(), settings, delivery.receivedAt());
    }

    public Delivery delivery() {
        return delivery;
    }

    /** Returns the message's group on a FIFO queue; empty on a standard queue. Not available after {@link #forget}. */
    public String group() {
        return polled().group();
    }

    /** Returns the message's data from SQS itself. */
    public SqsMessage polled() {
        return Objects.requireNonNull(polled);
    }

    /** Leaves out the body: applications may log headers. */
    @Override
    public String toString() {
        return delivery.toString();
    }

    /**
     * Returns the message as it was polled, or as interceptors have passed it on. Not available after {@link #forget}.
     *
     * @throws RuntimeException if the message must be read again, and cannot be
     */
    @Override
    public Message<Object> message() {
        Message<Object> read = message;
        return read == null ? Objects.requireNonNull(reading).get() : read;
    }

    /** Drops the payload, which may be many times as large as the body, until the next use of the message. */
    public void readAgain(Supplier<Message<Object>> again) {
        reading = again;
        message = null;
    }

    public boolean isForgotten() {
        return message == null && reading == null;
    }

    /**
     * Adds this object to a message's headers, and the visibility that renewals respect instead of Spring Cloud AWS's
     * own. Both are added in one step, because each step copies all headers. They override message attributes of the
     * same names.
     */
    public Message<Object> attachTo(Message<?> converted, @Nullable MessageConversionContext context) {
        MessageHeaders existing = converted.getHeaders();
        Map<String, Object> headers = new HashMap<>(existing);
        headers.putAll(RenewingVisibility.header(converted, delivery, context));
        headers.put(HEADER, this);
        Message<Object> attached = new GenericMessage<>(
                converted.getPayload(),
                new MessagingMessageHeaders(headers, existing.getId(), existing.getTimestamp()));
        // Reads the headers of the new message, because headers of the converted one would be kept as long as the
        // delivery.
        sent = attached.getHeaders();
        delivery.attempt().carries(this);
        message = attached;
        return attached;
    }

    @Override
    public @Nullable String header(String name) {
        MessageHeaders headers = sent;
        return headers != null && headers.get(name) instanceof String text ? text : null;
    }

    @Override
    public void forget() {
        polled = null;
        sent = null;
        reading = null;
        message = null;
    }

    /** Returns the delivery of a message that interceptors have passed on, and keeps the message as they changed it. */
    @SuppressWarnings("unchecked") // A payload may be anything.
    public static Delivery handedOn(Message<?> message) {
        ReceivedMessage received = require(message);
        received.message = (Message<Object>) message;
        return received.delivery;
    }

    public static List<Delivery> deliveries(List<ReceivedMessage> messages) {
        return messages.stream().map(ReceivedMessage::delivery).toList();
    }

    public static List<Message<Object>> messages(List<ReceivedMessage> messages) {
        return messages.stream().map(ReceivedMessage::message).toList();
    }

    /** Returns the data of a message that is about to be handled. */
    public static ReceivedMessage require(Message<?> message) {
        return of(message)
                .orElseThrow(() -> new IllegalStateException(
                        "This message has no delivery: its listener's container was not prepared by an "
                                + "exactly-once container factory, or an interceptor dropped the message's headers"));
    }

    public static Optional<ReceivedMessage> of(Message<?> message) {
        return message.getHeaders().get(HEADER) instanceof ReceivedMessage received
                ? Optional.of(received)
                : Optional.empty();
    }
}
