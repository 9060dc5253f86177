package io.exactlyonce;

import java.time.Duration;

/** Thrown if another call or delivery owns the key. */
public final class ClaimHeldException extends ExactlyOnceException {

    /** The owner may still write after its lease has expired. */
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    private final Duration retryAfter;

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param leaseRemaining how long the owner's lease lasts unless it is renewed
     */
    public ClaimHeldException(String scope, String keyHash, Duration leaseRemaining) {
        super(
                scope,
                keyHash,
                "Key %s of scope '%s' is owned by another call; try again after at most %d ms"
                        .formatted(
                                keyHash, scope, atLeastShortest(leaseRemaining).toMillis()),
                null);
        this.retryAfter = atLeastShortest(leaseRemaining);
    }

    private static Duration atLeastShortest(Duration wait) {
        return wait.compareTo(SHORTEST) < 0 ? SHORTEST : wait;
    }

    /**
     * Returns how long the owner's lease lasts unless it is renewed, at least 1 s. By then the key is completed or
     * free, or its owner is alive and still works.
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
