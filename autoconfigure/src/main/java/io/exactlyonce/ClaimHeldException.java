package io.exactlyonce;

import java.time.Duration;

/** Another call, or a delivery, holds the key. */
public final class ClaimHeldException extends RuntimeException {

    private final Duration retryAfter;

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param retryAfter how long the holder's lease lasts unless it is renewed
     */
    public ClaimHeldException(String scope, String keyHash, Duration retryAfter) {
        super("Key %s of scope '%s' is held by another call; try again, after %d ms at the latest"
                .formatted(keyHash, scope, retryAfter.toMillis()));
        this.retryAfter = retryAfter;
    }

    /**
     * Returns how long the holder's lease lasts unless it is renewed: by then the key is completed or free, or its holder
     * is alive and still at work.
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
