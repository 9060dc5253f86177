package io.exactlyonce.claim;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request to hold a key.
 *
 * @param id the key, and a new id for the claim. If the reply is lost, the client repeats the request with the same id,
 *     so that the store recognizes the claim. Renewals and resolutions also name this id
 * @param owner the process that claims, for operators who read the table
 * @param lease how long the claim holds the key if it is not renewed, by the store's clock
 * @param inDoubt what to do if an earlier attempt may have had effects that are not recorded
 * @param fingerprint a hash of the payload, with 64 hexadecimal digits; {@code null} if payloads are not compared
 * @param retention how long a completed key is remembered; {@code null} for the store's default
 */
public record ClaimRequest(
        ClaimId id,
        String owner,
        Duration lease,
        InDoubt inDoubt,
        @Nullable String fingerprint,
        @Nullable Duration retention) {

    private static final int FINGERPRINT_LENGTH = 64;

    /**
     * Says what the store does if a key is in doubt. An earlier owner of such a key died or was stopped, and may have
     * had effects.
     */
    public enum InDoubt {
        /** The request gets the key. The outcome says that the key is in doubt. */
        TAKE_OVER,
        /** The key is parked until an operator decides. */
        PARK
    }

    public ClaimRequest {
        LeaseRenewal.requireValid(lease);
        if (fingerprint != null && fingerprint.length() != FINGERPRINT_LENGTH) {
            throw new IllegalArgumentException("fingerprint (%d characters) must have %d hexadecimal digits"
                    .formatted(fingerprint.length(), FINGERPRINT_LENGTH));
        }
    }

    /** Makes a request with the store's default retention. */
    public ClaimRequest(ClaimId id, String owner, Duration lease, InDoubt inDoubt, @Nullable String fingerprint) {
        this(id, owner, lease, inDoubt, fingerprint, null);
    }

    /** Makes a request that takes over keys in doubt and does not compare payloads. */
    public ClaimRequest(ClaimKey key, UUID claimId, String owner, Duration lease) {
        this(new ClaimId(key, claimId), owner, lease, InDoubt.TAKE_OVER, null);
    }

    public ClaimKey key() {
        return id.key();
    }

    public UUID claimId() {
        return id.value();
    }

    /** Returns the request's retention. If it has none, returns the given default. */
    public Duration retentionOr(Duration others) {
        return retention == null ? others : retention;
    }
}
