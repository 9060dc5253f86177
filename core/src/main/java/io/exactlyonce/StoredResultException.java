package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the key is completed, but has no stored result that can be read as the requested type. The effect has
 * happened.
 */
public final class StoredResultException extends ExactlyOnceException {

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param problem what is wrong with the stored result, and the remedy; never the result itself
     * @param cause the failure to read the stored result; {@code null} if nothing was read
     */
    public StoredResultException(String scope, String keyHash, String problem, @Nullable Throwable cause) {
        super(scope, keyHash, "Key %s of scope '%s' is completed, but %s".formatted(keyHash, scope, problem), cause);
    }
}
