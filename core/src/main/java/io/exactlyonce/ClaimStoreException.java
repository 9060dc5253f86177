package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the claim store did not do what a call requested. Each subclass says whether something may have been
 * changed.
 */
public abstract class ClaimStoreException extends ExactlyOnceException {

    /**
     * @param scope the key's scope; {@code null} if the failure concerns no single key
     * @param keyHash the key's hash; {@code null} if the failure concerns no single key
     * @param message what has happened
     * @param cause the store's failure, if it could be kept
     */
    protected ClaimStoreException(
            @Nullable String scope, @Nullable String keyHash, String message, @Nullable Throwable cause) {
        super(scope, keyHash, message, cause);
    }
}
