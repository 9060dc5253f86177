package io.exactlyonce.claim;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Claims keys and resolves claims like a {@link ClaimStore}, without blocking the caller. No call throws: its future
 * fails with the store's exception.
 *
 * <p>Optional: a {@code ClaimStore} that also implements this interface is called through it. For any other store, a
 * few threads call {@link ClaimStore#apply} with the claims and resolutions of many callers.
 *
 * <p>A future completes only when no part of its call is on its way to the store. So a claim cannot overtake a later
 * release of it. The future may complete on a thread that all calls share: dependent actions must not block.
 */
public interface AsyncClaimStore {

    /**
     * An answer to claims.
     *
     * @param outcomes one for each request, in the same order
     * @param askedAt when the request was sent to the store, in nanoseconds by {@link System#nanoTime}; this may be
     *     long after the call. Leases count from this time
     */
    record Claimed(List<ClaimOutcome> outcomes, long askedAt) {}

    /**
     * Does what {@link ClaimStore#claim} does.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     */
    CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests);

    /**
     * Does what {@link ClaimStore#resolve} does.
     *
     * @param resolutions at least one, and one per claim
     * @param isAwaited whether a caller, or the next message of a group, waits for the answer; other resolutions may be
     *     delayed for a moment to share a transaction
     * @return the claims whose resolution is recorded, and those without an answer
     */
    CompletableFuture<ClaimAnswers> resolveAsync(List<? extends ClaimResolution> resolutions, boolean isAwaited);
}
