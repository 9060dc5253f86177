package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/** Thrown if the key is completed, so its effect has happened, but no result of the requested type can be replayed. */
public final class StoredResultException extends ExactlyOnceException {

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param problem what is wrong with the stored result, and the remedy; never the result itself
     * @param cause why it cannot be read, if it was tried
     */
    public StoredResultException(String scope, String keyHash, String problem, @Nullable Throwable cause) {
        super(scope, keyHash, "Key %s of scope '%s' is completed, but %s".formatted(keyHash, scope, problem), cause);
    }
}
