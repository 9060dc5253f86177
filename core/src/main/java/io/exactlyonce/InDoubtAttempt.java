package io.exactlyonce;

import org.springframework.messaging.Message;

/** An attempt at a key in doubt, as a {@link Reconciler} gets it. Use it only while the reconciler runs. */
public interface InDoubtAttempt {

    /** Returns the id of the listener. */
    String listener();

    /** Returns the claim on the key that is in doubt. */
    Claim claim();

    /**
     * Returns the message as the container's interceptors have passed it on. If the handler takes a batch, returns the
     * one message of this key.
     */
    Message<?> message();

    /**
     * Returns the payload as the handler takes it: for a parameter with {@code @SnsNotificationMessage}, the published
     * content.
     *
     * @param type the payload's class, which is the class that the handler takes
     * @throws IllegalArgumentException if the payload is of another class
     * @throws UnusableKeyException if the payload cannot be converted to the type that the handler takes
     */
    <T> T payload(Class<T> type);
}
