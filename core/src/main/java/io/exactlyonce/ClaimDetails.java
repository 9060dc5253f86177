package io.exactlyonce;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The life of a key's claim until now, for operators: neither what was asked for nor what came of it. All times are by the
 * store's clock; a store that could not tell the time, or does not keep one of them, leaves it out.
 *
 * @param status {@code HELD}, {@code COMPLETED}, {@code RELEASED} or {@code PARKED}
 * @param attempt how many attempts there were at the key
 * @param fencingToken of the last one
 * @param inDoubt whether an attempt may have had effects that are not recorded
 * @param owner the process that claimed it last
 * @param firstClaimedAt when the key was claimed for the first time; {@code null} if that is not known
 * @param claimedAt when it was claimed last; {@code null} if that is not known
 * @param leaseUntil until when the last claim holds, or held, unless it was renewed or ended; {@code null} if that is not known
 * @param isLeaseOver whether that has passed
 * @param completedAt when the effect was recorded; {@code null} if it was not
 * @param parkedAt when it was set aside for a person; {@code null} if it is not
 * @param expiresAt when the row may be deleted; {@code null} if it is kept
 * @param error why the last attempt failed, or was parked; {@code null} if neither
 */
public record ClaimDetails(
        String status,
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
