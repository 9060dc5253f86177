package io.exactlyonce;

import java.time.Duration;

/** Another call, or a delivery, holds the key. */
public final class ClaimHeldException extends RuntimeException {

    /** A lease may be over, and its holder still be writing. */
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    private final Duration retryAfter;

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param leaseRemaining how long the holder's lease lasts unless it is renewed
     */
    public ClaimHeldException(String scope, String keyHash, Duration leaseRemaining) {
        super("Key %s of scope '%s' is held by another call; try again, after %d ms at the latest"
                .formatted(keyHash, scope, atLeastShortest(leaseRemaining).toMillis()));
        this.retryAfter = atLeastShortest(leaseRemaining);
    }

    private static Duration atLeastShortest(Duration wait) {
        return wait.compareTo(SHORTEST) < 0 ? SHORTEST : wait;
    }

    /**
     * Returns how long the holder's lease lasts unless it is renewed, and 1 s at least: by then the key is completed or
     * free, or its holder is alive and still at work.
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
