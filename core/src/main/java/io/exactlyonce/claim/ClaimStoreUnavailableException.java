package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/**
 * A call that the store did not answer: each thing that it asked for may or may not have happened, and it can be made
 * again. The cause is the store's failure, if it could be kept.
 */
public final class ClaimStoreUnavailableException extends RuntimeException {

    /** Makes an exception. */
    public ClaimStoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
