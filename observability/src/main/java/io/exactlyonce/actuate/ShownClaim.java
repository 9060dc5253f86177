package io.exactlyonce.actuate;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.boundary.OneLine;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A claim as JSON. Users depend on the names of the fields. {@code null} fields are left out.
 *
 * <p>Only the response to a request for the claim of one key has all fields. Elsewhere, for example in a dead letter,
 * the claim has no scope, hash, downstream key, {@code maxAttempts} or history.
 *
 * @param claimId the id of the latest claim of the key
 * @param attempt the number of the latest attempt, counted from 1
 * @param fencingToken the fencing token of the latest claim
 * @param isInDoubt whether an attempt may have had effects that were not recorded
 * @param owner the process that claimed the key last
 * @param leaseUntil when the lease expires or expired
 * @param completedAt when the key was completed
 * @param parkedAt when the key was parked; {@code null} if it is not parked
 * @param expiresAt when the store may delete the key
 * @param error why the last attempt failed, or why the key was parked
 * @param keyHash the key's hash, as in log lines
 * @param downstreamKey the idempotency key for other systems; {@code null} if the caller gave only the hash
 * @param failures how many attempts failed since an operator last released the key; {@code null} if none failed
 * @param maxAttempts how many attempts may fail before the key is parked; {@code null} if no listener of this instance
 *     has a limit
 * @param history past events of the key. The store keeps only some of them
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
        @Nullable String error,
        @Nullable String scope,
        @Nullable String keyHash,
        @Nullable String downstreamKey,
        @Nullable Integer failures,
        @Nullable Integer maxAttempts,
        @Nullable List<Step> history) {

    private static final int LONGEST_OWNER = 200;

    /**
     * A past event of a key.
     *
     * @param at when it happened; {@code null} if the store does not keep this time
     * @param event a sentence that describes the event
     */
    record Step(@Nullable Instant at, String event) {}

    static ShownClaim of(ClaimDetails claim) {
        return of(claim, null, null, null, null, null);
    }

    /** Returns the claim of the key that the caller asked for, with its history. */
    static ShownClaim of(ClaimDetails claim, NamedKey named, ListenerStates listeners) {
        return of(
                claim,
                named.scope(),
                named.hash(),
                named.key() == null ? null : named.key().downstreamKey(),
                listeners.maxAttempts(named.scope()),
                history(claim));
    }

    private static List<Step> history(ClaimDetails claim) {
        List<Step> steps = new ArrayList<>();
        boolean isFirst = claim.attempt() == 1;
        if (!isFirst) {
            steps.add(new Step(claim.firstClaimedAt(), "Attempt 1 claimed the key."));
        }
        steps.add(new Step(
                isFirst && claim.claimedAt() == null ? claim.firstClaimedAt() : claim.claimedAt(),
                "Attempt %d claimed the key. Its owner was %s."
                        .formatted(claim.attempt(), OneLine.of(claim.owner(), LONGEST_OWNER))));
        if (claim.isInDoubt()) {
            steps.add(new Step(null, "The key is in doubt: an attempt may have had effects that are not recorded."));
        }
        steps.add(
                switch (claim.status()) {
                    case HELD ->
                        claim.isLeaseOver()
                                ? new Step(
                                        claim.leaseUntil(), "The lease expired. The next delivery takes the key over.")
                                : new Step(null, "Attempt %d holds the key.".formatted(claim.attempt()));
                    case COMPLETED ->
                        new Step(claim.completedAt(), "The effect was recorded. Later messages are duplicates.");
                    case RELEASED ->
                        new Step(
                                null,
                                claim.error() == null
                                        ? "The key was released. The next delivery claims it."
                                        : "Attempt %d was released: %s".formatted(claim.attempt(), claim.error()));
                    case PARKED -> new Step(claim.parkedAt(), "The key was parked: %s".formatted(claim.error()));
                });
        return steps;
    }

    private static ShownClaim of(
            ClaimDetails claim,
            @Nullable String scope,
            @Nullable String keyHash,
            @Nullable String downstreamKey,
            @Nullable Integer maxAttempts,
            @Nullable List<Step> history) {
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
                claim.error(),
                scope,
                keyHash,
                downstreamKey,
                claim.failures() == 0 ? null : claim.failures(),
                maxAttempts,
                history);
    }
}
