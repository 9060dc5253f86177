package io.exactlyonce.claim;

import io.exactlyonce.ClaimStoreException;
import org.jspecify.annotations.Nullable;

/** Thrown if a call never reached the store. The call had no effect, and can be repeated. */
public final class ClaimStoreBusyException extends ClaimStoreException {

    /** Makes an exception that concerns no single key. */
    public ClaimStoreBusyException(String message) {
        super(null, null, message, null);
    }

    /** Makes an exception that concerns one key. */
    public ClaimStoreBusyException(ClaimKey key, String message, @Nullable Throwable cause) {
        super(key.scope(), key.keyHash(), message, cause);
    }
}
