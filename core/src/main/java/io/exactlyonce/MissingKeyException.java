package io.exactlyonce;

/**
 * Thrown if there is no idempotency key: the value is {@code null} or blank, or a part of what its expression reads is {@code
 * null}. {@link ExactlyOnceListener#whenKeyMissing()} decides on a listener's message that has none.
 */
public final class MissingKeyException extends UnusableKeyException {

    /** @param message where the key was expected, and the remedy */
    public MissingKeyException(String message) {
        super(message);
    }
}
