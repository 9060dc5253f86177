package io.exactlyonce;

import org.springframework.messaging.Message;

/** An attempt at a key that is in doubt, as its {@link Reconciler} sees it. Usable while the reconciler runs. */
public interface InDoubtAttempt {

    /** Returns the id of the listener. */
    String listener();

    /** Returns the claim on the key that is in doubt. */
    Claim claim();

    /** Returns the message as interceptors have passed it on. For a batch, returns the one message of the key. */
    Message<?> message();

    /**
     * Returns the payload as the handler takes it. For a parameter with {@code @SnsNotificationMessage}, it is the
     * published content.
     *
     * @param type the payload's class, which is the type that the handler takes
     * @throws IllegalArgumentException if the payload is of another class
     * @throws UnusableKeyException if the payload cannot be read as what the handler takes
     */
    <T> T payload(Class<T> type);
}
