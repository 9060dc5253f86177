package io.exactlyonce;

import io.exactlyonce.boundary.KeyHashes;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A snapshot of a key that waits for an operator's decision. */
public final class ParkedClaim {

    private final String scope;
    private final String key;
    private final UUID claimId;
    private final int attempt;
    private final int failures;
    private final boolean isInDoubt;
    private final String reason;
    private final Instant parkedAt;

    private ParkedClaim(
            String scope,
            String key,
            UUID claimId,
            int attempt,
            int failures,
            boolean isInDoubt,
            String reason,
            Instant parkedAt) {
        this.scope = scope;
        this.key = key;
        this.claimId = claimId;
        this.attempt = attempt;
        this.failures = failures;
        this.isInDoubt = isInDoubt;
        this.reason = reason;
        this.parkedAt = parkedAt;
    }

    /**
     * Makes a snapshot, for claim stores that do not count attempts that threw.
     *
     * @param scope the key's namespace
     * @param key the key as it is stored
     * @param claimId id of the parked claim
     * @param attempt the number of the parked attempt, from 1
     * @param isInDoubt whether an attempt may have had effects that are not recorded
     * @param reason why it was parked
     * @param parkedAt when it was parked, as precisely as the store orders parked claims
     */
    public static ParkedClaim of(
            String scope, String key, UUID claimId, int attempt, boolean isInDoubt, String reason, Instant parkedAt) {
        return of(scope, key, claimId, attempt, 0, isInDoubt, reason, parkedAt);
    }

    /**
     * Makes a snapshot, for claim stores.
     *
     * @param scope the key's namespace
     * @param key the key as it is stored
     * @param claimId id of the parked claim
     * @param attempt the number of the parked attempt, from 1
     * @param failures how many attempts threw since an operator released the key last
     * @param isInDoubt whether an attempt may have had effects that are not recorded
     * @param reason why it was parked
     * @param parkedAt when it was parked, as precisely as the store orders parked claims
     */
    public static ParkedClaim of(
            String scope,
            String key,
            UUID claimId,
            int attempt,
            int failures,
            boolean isInDoubt,
            String reason,
            Instant parkedAt) {
        return new ParkedClaim(scope, key, claimId, attempt, failures, isInDoubt, reason, parkedAt);
    }

    /** Returns the key's namespace. */
    public String scope() {
        return scope;
    }

    /** Returns the key as it is stored. It may be personal data. */
    public String key() {
        return key;
    }

    /** Returns the hash of the key, by which logs, events and the endpoint name it. */
    public String keyHash() {
        return KeyHashes.keyHash(scope, key);
    }

    /** Returns the id of the parked claim: a decision applies only to this one. */
    public UUID claimId() {
        return claimId;
    }

    /** Returns the number of the parked attempt, from 1. */
    public int attempt() {
        return attempt;
    }

    /** Returns how many attempts threw since an operator released the key last; {@code maxAttempts} bounds that number. */
    public int failures() {
        return failures;
    }

    /** Returns whether an attempt may have had effects that are not recorded. */
    public boolean isInDoubt() {
        return isInDoubt;
    }

    /** Returns why the key was parked. */
    public String reason() {
        return reason;
    }

    /** Returns when the key was parked, by the store's clock. */
    public Instant parkedAt() {
        return parkedAt;
    }

    /** Compares all properties. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ParkedClaim that
                && scope.equals(that.scope)
                && key.equals(that.key)
                && claimId.equals(that.claimId)
                && attempt == that.attempt
                && failures == that.failures
                && isInDoubt == that.isInDoubt
                && reason.equals(that.reason)
                && parkedAt.equals(that.parkedAt);
    }

    @Override
    public int hashCode() {
        return Objects.hash(scope, key, claimId);
    }

    /** Leaves out the key, which may be personal data. */
    @Override
    public String toString() {
        return "claim %s of %s/%s, attempt %d, parked at %s: %s"
                .formatted(claimId, scope, keyHash(), attempt, parkedAt, reason);
    }
}
