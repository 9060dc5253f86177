package io.exactlyonce.listener.method;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * The batch that a thread is about to hand to a listener method; as {@link CurrentMessage}, it can be taken once.
 *
 * @param messages the messages, in their order
 * @param method the listener method
 */
record CurrentBatch(List<Message<?>> messages, ListenerMethod method) {

    private static final ThreadLocal<@Nullable CurrentBatch> CURRENT = new ThreadLocal<>();

    /** Reads awspring's message, whose payload are the messages of the batch. */
    static CurrentBatch of(Message<?> message, ListenerMethod method) {
        if (!(message.getPayload() instanceof Collection<?> messages)) {
            throw new IllegalStateException("A listener method that takes batches was given a single message");
        }
        return new CurrentBatch(
                messages.stream().<Message<?>>map(each -> (Message<?>) each).toList(), method);
    }

    void bind() {
        CURRENT.set(this);
    }

    static @Nullable CurrentBatch take() {
        CurrentBatch current = CURRENT.get();
        CURRENT.remove();
        return current;
    }

    static void unbind() {
        CURRENT.remove();
    }
}
