package io.exactlyonce.claim;

/**
 * A call that the store did not answer: each thing that it asked for may or may not have happened, and it can be made
 * again. The cause is the store's failure.
 */
public final class ClaimsUnansweredException extends RuntimeException {

    /** Makes an exception. */
    public ClaimsUnansweredException(String message, Throwable cause) {
        super(message, cause);
    }
}
