package io.exactlyonce;

/**
 * A delivery has no usable idempotency key, so its handler was not called and the message was not acknowledged: it will
 * be redelivered, and ends in the dead-letter queue if there is one.
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
