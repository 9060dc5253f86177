package io.exactlyonce;

/** The key is completed, for another payload: its sender has used one key for two things. */
public final class KeyReusedException extends RuntimeException {

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     */
    public KeyReusedException(String scope, String keyHash) {
        super("Key %s of scope '%s' is completed, for another payload; send each payload under a key of its own"
                .formatted(keyHash, scope));
    }
}
