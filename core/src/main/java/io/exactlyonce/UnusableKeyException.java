package io.exactlyonce;

/**
 * Thrown if a call of {@link ExactlyOnceOperations} has no usable idempotency key. For a delivery, the same message is
 * logged instead: its handler is not called, and SQS redelivers the message until it ends in the dead-letter queue, if
 * there is one.
 */
public class UnusableKeyException extends ExactlyOnceException {

    /** @param message what is wrong with the key, and the remedy; never the key itself, which may be personal data */
    public UnusableKeyException(String message) {
        super(null, null, message, null);
    }

    /**
     * @param message what is wrong with the key, and the remedy
     * @param cause why it could not be evaluated
     */
    public UnusableKeyException(String message, Throwable cause) {
        super(null, null, message, cause);
    }
}
