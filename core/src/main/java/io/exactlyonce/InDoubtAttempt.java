package io.exactlyonce;

import org.springframework.messaging.Message;

/**
 * Tells a {@link Reconciler} which key is in doubt, and which message has this key. Use it only while the reconciler
 * runs.
 */
public interface InDoubtAttempt {

    /** Returns the id of the listener. */
    String listener();

    /** Returns the claim on the key that is in doubt. */
    Claim claim();

    /**
     * Returns the message as the handler would get it, after all interceptors of the container. For a batch handler,
     * returns only the message of this key.
     */
    Message<?> message();

    /**
     * Returns the message's payload, converted as for the handler. For a parameter with {@code
     * @SnsNotificationMessage}, returns the published content.
     *
     * @param type the payload's class in the handler's signature
     * @throws IllegalArgumentException if the payload is of another class
     * @throws UnusableKeyException if the payload cannot be converted to the type that the handler takes
     */
    <T> T payload(Class<T> type);
}
