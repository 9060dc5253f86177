package io.exactlyonce;

/**
 * Thrown if a call of {@link ExactlyOnceOperations} has no usable idempotency key, or if a method of {@link Claim}
 * needs a key that the message does not have.
 *
 * <p>A listener logs the problem instead. If a delivery has no usable key, the handler is not called. SQS redelivers
 * the message until it ends in the dead-letter queue, if there is one.
 */
public class UnusableKeyException extends ExactlyOnceException {

    /** @param message what is wrong with the key, and the remedy; never the key itself, which may be personal data */
    public UnusableKeyException(String message) {
        super(null, null, message, null);
    }

    /**
     * @param message what is wrong with the key, and the remedy
     * @param cause why the key could not be evaluated
     */
    public UnusableKeyException(String message, Throwable cause) {
        super(null, null, message, cause);
    }
}
