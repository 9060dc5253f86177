package io.exactlyonce.listener.expression;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;

/**
 * A variable of an expression.
 *
 * @param value makes the variable's value from a message
 * @param type the declared type; {@code Object} if it is not known
 * @param header the name of the header that the variable is; {@code null} for another variable
 */
record Argument(Value value, ResolvableType type, @Nullable String header) {

    /** Makes the value from a message as it was polled. */
    @FunctionalInterface
    interface Value {
        @Nullable Object of(Message<?> message);
    }

    /** The payload of the message, used if no argument of the method is the payload. */
    static final Argument PAYLOAD = new Argument(Message::getPayload, Object.class);

    static final Argument MESSAGE = new Argument(message -> message, Message.class);

    static final Argument HEADERS = new Argument(Message::getHeaders, MessageHeaders.class);

    private Argument(Value value, Class<?> type) {
        this(value, ResolvableType.forClass(type), null);
    }
}
