package io.exactlyonce;

/**
 * Thrown if there is no idempotency key: the value is {@code null} or blank, or its expression reads a property of
 * {@code null}. {@link ExactlyOnceListener#whenKeyMissing()} decides on such a message of a listener.
 */
public final class MissingKeyException extends UnusableKeyException {

    /** @param message where the key was expected, and the remedy */
    public MissingKeyException(String message) {
        super(message);
    }
}
