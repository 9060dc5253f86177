package io.exactlyonce;

import java.time.Duration;

/** Thrown if another call or delivery owns the key. */
public final class ClaimHeldException extends ExactlyOnceException {

    /**
     * Callers are told to wait at least 1 s, even if the owner's lease has already expired. The owner may still be
     * recording its outcome.
     */
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    private final Duration retryAfter;

    /**
     * @param scope the key's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param leaseRemaining the time until the owner's lease expires if the owner does not renew it
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
     * Returns how long to wait before the next call: until the owner's lease expires, but at least 1 s. After this
     * wait, the key is completed, parked or free, or its owner has renewed the lease.
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
