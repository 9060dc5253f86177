package io.exactlyonce.listener.method;

import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * The messages that a thread is about to hand to a listener method: how the aspect, which sees a method call only, learns
 * of the deliveries behind it. They can be taken once, so that no second call on the same thread runs under their claims.
 *
 * @param messages the messages, in their order: one, or those of a batch
 * @param method the listener method
 */
record CurrentDeliveries(List<Message<?>> messages, ListenerMethod method) {

    private static final ThreadLocal<@Nullable CurrentDeliveries> CURRENT = new ThreadLocal<>();

    /** Reads awspring's message, whose payload are the messages of a batch if the method takes batches. */
    static CurrentDeliveries of(Message<?> message, ListenerMethod method) {
        if (method.batch() == null) {
            ReceivedMessage.require(message);
            return new CurrentDeliveries(List.of(message), method);
        }
        if (!(message.getPayload() instanceof Collection<?> messages)) {
            throw new IllegalStateException("A listener method that takes batches was given a single message");
        }
        return new CurrentDeliveries(
                messages.stream().<Message<?>>map(each -> (Message<?>) each).toList(), method);
    }

    /** Returns a message's way through the pipeline, on which its key has been claimed. */
    static Attempt attempt(Message<?> message) {
        ReceivedMessage received = ReceivedMessage.require(message);
        return received.attempt()
                .orElseThrow(() -> new IllegalStateException(
                        "%s did not come through its container's sink, so that its key was not claimed"
                                .formatted(received)));
    }

    void bind() {
        CURRENT.set(this);
    }

    static @Nullable CurrentDeliveries take() {
        CurrentDeliveries current = CURRENT.get();
        CURRENT.remove();
        return current;
    }

    static void unbind() {
        CURRENT.remove();
    }

    /** Names what is bound, for a failure's text. */
    Object named() {
        return method.batch() == null ? ReceivedMessage.require(messages.get(0)) : "A batch";
    }
}
