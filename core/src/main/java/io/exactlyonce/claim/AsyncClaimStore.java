package io.exactlyonce.claim;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Claims keys and resolves claims like a {@link ClaimStore}, without blocking the caller. No call throws. If the store
 * throws, the call's future fails with the store's exception.
 *
 * <p>Optional: a {@code ClaimStore} that also implements this interface is called through this interface. For any other
 * store, a few threads call {@link ClaimStore#apply} with the claims and resolutions of many callers.
 *
 * <p>A future completes only when no part of its call is at the store any more. So a claim cannot reach the store after
 * a release that the caller sends when the claim's future has completed. A future may complete on a thread that all
 * calls share, so dependent actions must not block.
 */
public interface AsyncClaimStore {

    /**
     * An answer to claims.
     *
     * @param outcomes one for each request, in the same order
     * @param askedAt when the claims were sent to the store, in nanoseconds by {@link System#nanoTime}. Leases count
     *     from this time. The caller may have called long before, because calls can wait for the store
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
     * @param isAwaited whether a caller, or the next message of a FIFO group, waits for the answer. Resolutions for
     *     which nobody waits may be delayed for a moment, so that they can share a transaction with others
     * @return the claims whose resolution is recorded, and the claims without an answer
     */
    CompletableFuture<ClaimAnswers> resolveAsync(List<? extends ClaimResolution> resolutions, boolean isAwaited);
}
