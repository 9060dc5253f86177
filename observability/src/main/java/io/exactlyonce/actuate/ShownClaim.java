package io.exactlyonce.actuate;

import io.exactlyonce.ClaimDetails;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A claim as the endpoint shows it. The names of its fields are an API. Values of {@code null} are left out of the response.
 *
 * @param status the key's state
 * @param claimId id of the last claim
 * @param attempt the number of attempts at the key
 * @param fencingToken of the last claim
 * @param isInDoubt whether an attempt may have had effects that are not recorded
 * @param owner the process that claimed the key last
 * @param firstClaimedAt when the key was claimed for the first time
 * @param claimedAt when the key was claimed last
 * @param leaseUntil when the last claim's lease expires, or has expired
 * @param isLeaseOver whether that time has passed
 * @param completedAt when the effect was recorded
 * @param parkedAt when the key was parked, if it is
 * @param expiresAt when the store may forget the key
 * @param error why the last attempt failed, or was parked
 */
record ShownClaim(
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
        @Nullable String error) {

    static ShownClaim of(ClaimDetails claim) {
        return new ShownClaim(
                claim.status(),
                claim.claimId(),
                claim.attempt(),
                claim.fencingToken(),
                claim.isInDoubt(),
                claim.owner(),
                claim.firstClaimedAt(),
                claim.claimedAt(),
                claim.leaseUntil(),
                claim.isLeaseOver(),
                claim.completedAt(),
                claim.parkedAt(),
                claim.expiresAt(),
                claim.error());
    }
}
