package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store did not answer a call: each of its changes may or may not have happened, and it can be repeated.
 * The cause is the store's failure, if it could be kept.
 */
public final class ClaimStoreUnavailableException extends RuntimeException {

    /** Makes an exception. */
    public ClaimStoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
