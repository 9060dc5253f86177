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
 * A message from SQS, together with its {@link Delivery}. The Spring message carries this object in the header {@link
 * #HEADER}. Senders cannot forge this header, because they can set headers only to texts, numbers and bytes.
 */
public final class ReceivedMessage implements Attempt.SentContent {

    /** The message attribute in which senders may send the idempotency key. */
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
     * Creates the delivery of a polled message.
     *
     * @param requested the queue's settings at the time of the poll
     * @param receivedAt a time of the monotonic clock. The visibility timeout begins at this time or later
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

    /**
     * Returns the same message with other settings of the queue, and so with a new delivery. The old delivery must not
     * have started.
     */
    public ReceivedMessage requestedWith(QueueSettings settings) {
        return received(polled(), delivery.subscription(), settings, delivery.receivedAt());
    }

    public Delivery delivery() {
        return delivery;
    }

    /** Returns the message's group on a FIFO queue; empty on a standard queue. Fails after {@link #forget}. */
    public String group() {
        return polled().group();
    }

    /** Returns the message as SQS delivered it. Fails after {@link #forget}. */
    public SqsMessage polled() {
        return Objects.requireNonNull(polled);
    }

    /** Leaves out the body. Applications may log a message's headers, and this object is one of them. */
    @Override
    public String toString() {
        return delivery.toString();
    }

    /**
     * Returns the converted message, with the changes that interceptors have made. Fails after {@link #forget}.
     *
     * @throws RuntimeException if the message must be converted again after {@link #readAgain}, and this fails
     */
    @Override
    public Message<Object> message() {
        Message<Object> read = message;
        return read == null ? Objects.requireNonNull(reading).get() : read;
    }

    /**
     * Drops the converted message to save memory: its payload may be many times as large as the body. Each later call
     * of {@link #message} converts the message again.
     *
     * @param again converts the message
     */
    public void readAgain(Supplier<Message<Object>> again) {
        reading = again;
        message = null;
    }

    public boolean isForgotten() {
        return message == null && reading == null;
    }

    /**
     * Adds two headers to a message: this object, and a {@link RenewingVisibility} in place of Spring Cloud AWS's own
     * visibility. Both are added in one step, because each step copies all headers.
     */
    public Message<Object> attachTo(Message<?> converted, @Nullable MessageConversionContext context) {
        MessageHeaders existing = converted.getHeaders();
        Map<String, Object> headers = new HashMap<>(existing);
        headers.putAll(RenewingVisibility.header(converted, delivery, context));
        headers.put(HEADER, this);
        Message<Object> attached = new GenericMessage<>(
                converted.getPayload(),
                new MessagingMessageHeaders(headers, existing.getId(), existing.getTimestamp()));
        // Keeps the new message's headers. If the converted message's headers were kept instead, two maps of headers
        // would stay in memory until the delivery ends.
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

    /**
     * Returns the delivery of a message that is about to be handled. Interceptors may have changed the message, so
     * {@link #message} returns the changed one from now on.
     */
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

    /**
     * Returns the received message that a header carries.
     *
     * @throws IllegalStateException if the header is missing
     */
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
