package io.exactlyonce;

/**
 * Thrown if there is no idempotency key: the value is {@code null} or blank, or its expression reads a property of
 * {@code null}, or an entry that a map does not have. For a message of a listener, {@link
 * ExactlyOnceListener#whenKeyMissing()} decides instead.
 */
public final class MissingKeyException extends UnusableKeyException {

    /** @param message where the key was expected, and the remedy */
    public MissingKeyException(String message) {
        super(message);
    }
}
