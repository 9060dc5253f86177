package io.exactlyonce;

/**
 * Thrown if a claim is lost: its lease expired before it was renewed, or another worker took the key over. The handler
 * should stop, because another worker may already do the same work.
 */
public final class ClaimLostException extends ExactlyOnceException {

    private final long fencingToken;

    /**
     * @param scope the claim's scope
     * @param keyHash a hash of the key, since keys may be personal data
     * @param fencingToken the fencing token of the claim that was lost
     * @param reason how the loss was detected
     */
    public ClaimLostException(String scope, String keyHash, long fencingToken, String reason) {
        super(
                scope,
                keyHash,
                "Claim on key %s of scope '%s' with fencing token %d is lost: %s"
                        .formatted(keyHash, scope, fencingToken, reason),
                null);
        this.fencingToken = fencingToken;
    }

    /** Returns the fencing token of the claim that was lost. */
    public long fencingToken() {
        return fencingToken;
    }
}
