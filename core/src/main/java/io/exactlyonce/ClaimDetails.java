package io.exactlyonce;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The current state of a key's claim, for operators. Contains neither the key, nor the payload, nor the result. Times
 * are the store's; a time is {@code null} if the store does not keep it. Claim stores implement this interface.
 */
public interface ClaimDetails {

    /** The state of a key. */
    enum Status {
        /** An attempt holds the key, until its lease expires. */
        HELD,
        /** The effect has happened. */
        COMPLETED,
        /** An attempt failed, or an operator released the key: the next attempt may begin. */
        RELEASED,
        /** The key waits for an operator's decision. */
        PARKED
    }

    /** Returns the key's state. */
    Status status();

    /** Returns the id of the last claim: a decision on a parked key names it. */
    UUID claimId();

    /** Returns the number of attempts at the key. */
    int attempt();

    /**
     * Returns how many attempts threw since an operator released the key last; 0 also if the store does not count them.
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

    /** Returns when the key was claimed for the first time. */
    default @Nullable Instant firstClaimedAt() {
        return null;
    }

    /** Returns when the key was claimed last. */
    default @Nullable Instant claimedAt() {
        return null;
    }

    /** Returns when the last claim's lease expires, or has expired. */
    default @Nullable Instant leaseUntil() {
        return null;
    }

    /** Returns when the effect was recorded; {@code null} if it was not recorded. */
    default @Nullable Instant completedAt() {
        return null;
    }

    /** Returns when the key was parked; {@code null} if it is not parked. */
    default @Nullable Instant parkedAt() {
        return null;
    }

    /** Returns when the store may forget the key; {@code null} if it keeps the key. */
    default @Nullable Instant expiresAt() {
        return null;
    }

    /** Returns why the last attempt failed, or was parked; {@code null} if neither. */
    @Nullable String error();
}
