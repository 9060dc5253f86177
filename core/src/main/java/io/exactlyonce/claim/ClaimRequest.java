package io.exactlyonce.claim;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A request to hold a key.
 *
 * @param id the key, and the claim's identity, which the client makes: new for each request, and the same if a
 *     request is repeated. A repetition after a lost reply finds its own claim by this identity, and every later write
 *     names it
 * @param owner the process that claims, for operators who read the table
 * @param lease how long the claim holds unless it is renewed, counted by the store's clock
 * @param inDoubt what to do with a key whose earlier attempt may have had effects that are not recorded
 * @param fingerprint of the payload: 64 hexadecimal digits, or {@code null} not to compare payloads
 * @param retention how long the key is remembered once it is completed; {@code null} for the store's default
 */
public record ClaimRequest(
        ClaimId id,
        String owner,
        Duration lease,
        InDoubt inDoubt,
        @Nullable String fingerprint,
        @Nullable Duration retention) {

    private static final int FINGERPRINT_LENGTH = 64;

    /** Policy for a key whose owner died or was stopped. */
    public enum InDoubt {
        /** The request acquires the key, and the outcome says that the key is in doubt. */
        TAKE_OVER,
        /** The key is parked, so that an operator decides. */
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

    /** Makes a request that takes over keys in doubt, and compares no payloads. */
    public ClaimRequest(ClaimKey key, UUID claimId, String owner, Duration lease) {
        this(new ClaimId(key, claimId), owner, lease, InDoubt.TAKE_OVER, null);
    }

    public ClaimKey key() {
        return id.key();
    }

    public UUID claimId() {
        return id.value();
    }

    /**
     * Returns the key's retention.
     *
     * @param others the store's default
     */
    public Duration retentionOr(Duration others) {
        return retention == null ? others : retention;
    }
}
