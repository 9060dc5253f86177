package io.exactlyonce.listener.expression;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;

/**
 * A variable of an expression, such as {@code #order}.
 *
 * @param value makes the variable's value for a message
 * @param type the declared type; {@code Object} if it is not known
 * @param header the header's name if the variable is a header; {@code null} otherwise
 */
record Argument(Value value, ResolvableType type, @Nullable String header) {

    /** Makes the value of a variable from a polled message. */
    @FunctionalInterface
    interface Value {
        @Nullable Object of(Message<?> message);
    }

    /**
     * The message's own payload. The variable {@code #payload} has this value if the method has no payload argument.
     */
    static final Argument PAYLOAD = new Argument(Message::getPayload, Object.class);

    static final Argument MESSAGE = new Argument(message -> message, Message.class);

    static final Argument HEADERS = new Argument(Message::getHeaders, MessageHeaders.class);

    private Argument(Value value, Class<?> type) {
        this(value, ResolvableType.forClass(type), null);
    }
}
