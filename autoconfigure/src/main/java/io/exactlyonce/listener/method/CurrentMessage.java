package io.exactlyonce.listener.method;

import io.exactlyonce.listener.message.ReceivedMessage;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * The message that a thread is about to hand to a listener method: how the aspect, which sees a method call only, learns
 * of the delivery behind it. It can be taken once, so that no second call on the same thread runs under its claim.
 *
 * @param received what SQS said of the message
 * @param message the message
 * @param method the listener method
 */
record CurrentMessage(ReceivedMessage received, Message<?> message, ListenerMethod method) {

    private static final ThreadLocal<@Nullable CurrentMessage> CURRENT = new ThreadLocal<>();

    void bind() {
        CURRENT.set(this);
    }

    static @Nullable CurrentMessage take() {
        CurrentMessage current = CURRENT.get();
        CURRENT.remove();
        return current;
    }

    static void unbind() {
        CURRENT.remove();
    }
}
