package io.exactlyonce.claim.backend;

import io.exactlyonce.ClaimDetails;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Details of a claim that a store shows to operators, without the handler's result. */
public record StoredClaim(
        ClaimDetails.Status status,
        UUID claimId,
        int attempt,
        long fencingToken,
        boolean isInDoubt,
        String owner,
        @Nullable Instant firstClaimedAt,
        @Nullable Instant claimedAt,
        @Nullable Instant leaseUntil,
        boolean isLeaseOver,
        @Nullable Instant completedAt,
        @Nullable Instant parkedAt,
        @Nullable Instant expiresAt,
        @Nullable String error,
        int failures)
        implements ClaimDetails {}
