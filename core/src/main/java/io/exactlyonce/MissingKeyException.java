package io.exactlyonce;

/**
 * Thrown if there is no idempotency key: the key is {@code null} or blank, or its SpEL expression reads a property of
 * {@code null} or a map entry that does not exist. For a message of a listener, {@link
 * ExactlyOnceListener#whenKeyMissing()} decides instead.
 */
public final class MissingKeyException extends UnusableKeyException {

    /** @param message where the key was expected, and the remedy */
    public MissingKeyException(String message) {
        super(message);
    }
}
