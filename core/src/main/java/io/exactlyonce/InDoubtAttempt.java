package io.exactlyonce;

import org.springframework.messaging.Message;

/** An attempt at a key that is in doubt, as its {@link Reconciler} sees it. Usable while the reconciler runs. */
public interface InDoubtAttempt {

    /** Returns the id of the listener. */
    String listener();

    /** Returns the claim on the key that is in doubt. */
    Claim claim();

    /** Returns the message as interceptors have passed it on. Of a batch it is the one message of the key. */
    Message<?> message();

    /**
     * Returns the message's payload.
     *
     * @param type the payload's class, which is the type that the handler takes
     * @throws IllegalArgumentException if the payload is of another class
     */
    <T> T payload(Class<T> type);
}
