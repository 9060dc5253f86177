package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the claim store could not process a request, or did not answer it. Each subclass says whether the request
 * may nevertheless have changed something.
 */
public abstract class ClaimStoreException extends ExactlyOnceException {

    /**
     * @param scope the key's scope; {@code null} if the failure concerns no single key
     * @param keyHash the key's hash; {@code null} if the failure concerns no single key
     * @param message what has happened
     * @param cause the store's failure; {@code null} if there is none
     */
    protected ClaimStoreException(
            @Nullable String scope, @Nullable String keyHash, String message, @Nullable Throwable cause) {
        super(scope, keyHash, message, cause);
    }
}
