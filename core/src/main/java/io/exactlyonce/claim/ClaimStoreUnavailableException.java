package io.exactlyonce.claim;

import io.exactlyonce.ClaimStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store did not answer a call. The call's changes may or may not have happened, and the call can be
 * repeated. The exception's cause, if there is one, is the store's failure.
 */
public final class ClaimStoreUnavailableException extends ClaimStoreException {

    /** Makes an exception that concerns no single key. */
    public ClaimStoreUnavailableException(String message, @Nullable Throwable cause) {
        super(null, null, message, cause);
    }

    /** Makes an exception that concerns one key. */
    public ClaimStoreUnavailableException(ClaimKey key, String message, @Nullable Throwable cause) {
        super(key.scope(), key.keyHash(), message, cause);
    }
}
