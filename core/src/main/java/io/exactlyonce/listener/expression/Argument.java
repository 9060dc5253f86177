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
 * @param header the header's name if the variable is a header; {@code null} otherwise
 */
record Argument(Value value, ResolvableType type, @Nullable String header) {

    /** Makes a variable's value from a message, as it was when it was polled. */
    @FunctionalInterface
    interface Value {
        @Nullable Object of(Message<?> message);
    }

    /** The variable for the message's own payload, which is used if no argument of the method is the payload. */
    static final Argument PAYLOAD = new Argument(Message::getPayload, Object.class);

    static final Argument MESSAGE = new Argument(message -> message, Message.class);

    static final Argument HEADERS = new Argument(Message::getHeaders, MessageHeaders.class);

    private Argument(Value value, Class<?> type) {
        this(value, ResolvableType.forClass(type), null);
    }
}
