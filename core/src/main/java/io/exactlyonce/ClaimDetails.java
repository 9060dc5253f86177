package io.exactlyonce;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The current state of a key's claim, for operators. Contains neither the payload nor the result. Timestamps are the
 * store's; {@code null} if the store does not keep them.
 *
 * @param status {@code HELD}, {@code COMPLETED}, {@code RELEASED} or {@code PARKED}
 * @param claimId id of the last claim: a decision on a parked key names it
 * @param attempt the number of attempts at the key
 * @param fencingToken of the last one
 * @param inDoubt whether an attempt may have had effects that are not recorded
 * @param owner the process that claimed it last
 * @param firstClaimedAt when the key was claimed for the first time; {@code null} if that is not known
 * @param claimedAt when it was claimed last; {@code null} if that is not known
 * @param leaseUntil when the last claim's lease ends, or ended; {@code null} if that is not known
 * @param isLeaseOver whether that time has passed
 * @param completedAt when the effect was recorded; {@code null} if it was not
 * @param parkedAt when it was parked; {@code null} if it is not parked
 * @param expiresAt when the row may be deleted; {@code null} if it is kept
 * @param error why the last attempt failed, or was parked; {@code null} if neither
 */
public record ClaimDetails(
        String status,
        UUID claimId,
        int attempt,
        long fencingToken,
        boolean inDoubt,
        String owner,
        @Nullable Instant firstClaimedAt,
        @Nullable Instant claimedAt,
        @Nullable Instant leaseUntil,
        boolean isLeaseOver,
        @Nullable Instant completedAt,
        @Nullable Instant parkedAt,
        @Nullable Instant expiresAt,
        @Nullable String error) {}
