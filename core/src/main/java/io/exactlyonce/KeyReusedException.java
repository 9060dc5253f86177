package io.exactlyonce;

/** Thrown if the key is completed for other content, because its sender used one key for two actions. */
public final class KeyReusedException extends ExactlyOnceException {

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     */
    public KeyReusedException(String scope, String keyHash) {
        super(
                scope,
                keyHash,
                "Key %s of scope '%s' is completed for other content; use a separate key for each"
                        .formatted(keyHash, scope),
                null);
    }
}
