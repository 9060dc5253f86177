package io.exactlyonce;

/**
 * Thrown if the key is parked. Calls for the key throw this exception until an operator decides through {@link
 * ParkedKeys}.
 */
public final class ParkedException extends ExactlyOnceException {

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     */
    public ParkedException(String scope, String keyHash) {
        super(
                scope,
                keyHash,
                "Key %s of scope '%s' is parked; release or complete it through ParkedKeys".formatted(keyHash, scope),
                null);
    }
}
