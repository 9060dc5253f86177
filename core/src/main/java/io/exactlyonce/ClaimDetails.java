package io.exactlyonce;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The current state of a key's claim, for operators. Contains neither the key, nor the payload, nor the result. Times
 * are by the store's clock, and {@code null} if the store does not keep them. Claim stores implement this interface.
 */
public interface ClaimDetails {

    /** The state of a key. */
    enum Status {
        /** An attempt owns the key. When its lease has expired, another attempt may take the key over. */
        HELD,
        /** The effect has happened, and is recorded. */
        COMPLETED,
        /** The last attempt failed, or an operator released the key, so the next attempt may begin. */
        RELEASED,
        /** The key waits for an operator's decision. */
        PARKED
    }

    /** Returns the key's state. */
    Status status();

    /** Returns the id of the key's last claim. An operator's decision on a parked key names this id. */
    UUID claimId();

    /** Returns the number of attempts at the key. */
    int attempt();

    /**
     * Returns how many attempts have thrown an exception since an operator last released the key. Returns 0 if the
     * store does not count such attempts.
     */
    default int failures() {
        return 0;
    }

    /** Returns the fencing token of the last claim. */
    long fencingToken();

    /** Returns whether an attempt may have had effects that are not recorded. */
    boolean isInDoubt();

    /** Returns the process that claimed the key last. */
    String owner();

    /** Returns whether the last claim's lease has expired. */
    boolean isLeaseOver();

    /** Returns the time at which the key was claimed for the first time. */
    default @Nullable Instant firstClaimedAt() {
        return null;
    }

    /** Returns the time of the latest claim of the key. */
    default @Nullable Instant claimedAt() {
        return null;
    }

    /** Returns the time at which the last claim's lease expires, or has expired. */
    default @Nullable Instant leaseUntil() {
        return null;
    }

    /** Returns the time at which the key was completed; {@code null} if the key is not completed. */
    default @Nullable Instant completedAt() {
        return null;
    }

    /** Returns the time at which the key was parked; {@code null} if the key is not parked. */
    default @Nullable Instant parkedAt() {
        return null;
    }

    /**
     * Returns the earliest time at which the store may delete the key; {@code null} if the store has set no such time.
     */
    default @Nullable Instant expiresAt() {
        return null;
    }

    /** Returns why the last attempt failed, or why the key was parked; {@code null} if neither happened. */
    @Nullable String error();
}
