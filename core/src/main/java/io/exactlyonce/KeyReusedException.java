package io.exactlyonce;

/** Thrown if the key is completed for another payload: its sender used one key for two actions. */
public final class KeyReusedException extends RuntimeException {

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     */
    public KeyReusedException(String scope, String keyHash) {
        super("Key %s of scope '%s' is completed for another payload; use a separate key for each payload"
                .formatted(keyHash, scope));
    }
}
