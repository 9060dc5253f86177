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
     * Makes a snapshot for a claim store that does not count failures, so {@link #failures()} returns 0.
     *
     * @param scope the key's namespace
     * @param key the key as it is stored
     * @param claimId the id of the parked claim
     * @param attempt the number of the parked attempt, from 1
     * @param isInDoubt whether an attempt may have had effects that are not recorded
     * @param reason why the key was parked
     * @param parkedAt the exact time at which the key was parked. If the time were rounded, the next page of a list
     *     could skip or repeat keys
     */
    public static ParkedClaim of(
            String scope, String key, UUID claimId, int attempt, boolean isInDoubt, String reason, Instant parkedAt) {
        return of(scope, key, claimId, attempt, 0, isInDoubt, reason, parkedAt);
    }

    /**
     * Makes a snapshot for a claim store.
     *
     * @param scope the key's namespace
     * @param key the key as it is stored
     * @param claimId the id of the parked claim
     * @param attempt the number of the parked attempt, from 1
     * @param failures the number of attempts that have thrown an exception since an operator last released the key
     * @param isInDoubt whether an attempt may have had effects that are not recorded
     * @param reason why the key was parked
     * @param parkedAt the exact time at which the key was parked. If the time were rounded, the next page of a list
     *     could skip or repeat keys
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

    /** Returns the key as it is stored. The key may be personal data. */
    public String key() {
        return key;
    }

    /** Returns the hash of the key. Logs, events and the endpoint name the key by this hash. */
    public String keyHash() {
        return KeyHashes.keyHash(scope, key);
    }

    /** Returns the id of the parked claim. A decision applies only to the claim with this id. */
    public UUID claimId() {
        return claimId;
    }

    /** Returns the number of the parked attempt, from 1. */
    public int attempt() {
        return attempt;
    }

    /**
     * Returns how many attempts have thrown an exception since an operator last released the key. {@code maxAttempts}
     * limits this number.
     */
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

    /** Returns the time at which the key was parked, by the store's clock. */
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
