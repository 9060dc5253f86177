package io.exactlyonce;

/**
 * Thrown if a call of {@link ExactlyOnceOperations} has no usable idempotency key. For a delivery, the same message is
 * logged instead: its handler is not called, and SQS redelivers the message until it ends in the dead-letter queue, if
 * there is one.
 */
public final class InvalidKeyException extends RuntimeException {

    /** @param message what is wrong with the key, and the remedy; never the key itself, which may be personal data */
    public InvalidKeyException(String message) {
        super(message);
    }

    /**
     * @param message what is wrong with the key, and the remedy
     * @param cause why it could not be evaluated
     */
    public InvalidKeyException(String message, Throwable cause) {
        super(message, cause);
    }
}
