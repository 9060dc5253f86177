package io.exactlyonce;

/**
 * Thrown by {@link ExactlyOnceOperations} if the idempotency key is not usable. Also thrown by methods of {@link Claim}
 * that need a key, if the message has none.
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
