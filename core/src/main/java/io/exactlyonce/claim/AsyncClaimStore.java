package io.exactlyonce.claim;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A {@link ClaimStore} whose methods return futures instead of blocking. No method throws. If the store throws, the
 * future fails with the store's exception.
 *
 * <p>Stores need not implement this interface. If a {@code ClaimStore} also implements it, the library calls these
 * methods instead of the blocking ones. For other stores, a few threads collect the requests of many callers, and send
 * them with {@link ClaimStore#apply}.
 *
 * <p>A future completes only after the store has finished with the request. So if a caller waits for the future of a
 * claim before it releases the claim, the claim cannot arrive after the release. Actions that are chained to a future
 * may run on a thread that all callers share, so they must not block.
 */
public interface AsyncClaimStore {

    /**
     * The store's answers to claim requests.
     *
     * @param outcomes one for each request, in the same order
     * @param askedAt when the requests were sent to the store, by {@link System#nanoTime}. Leases count from this time.
     *     Requests may have to queue first, so it can be later than the call of {@link #claimAsync}
     */
    record Claimed(List<ClaimOutcome> outcomes, long askedAt) {}

    /**
     * Claims keys as {@link ClaimStore#claim} does.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     */
    CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests);

    /**
     * Resolves claims as {@link ClaimStore#resolve} does.
     *
     * @param resolutions at least one, and one per claim
     * @param isAwaited true if a caller, or the next message of a FIFO group, waits for the answer. If false, the store
     *     may wait a moment, so that several resolutions share a transaction
     * @return the claims whose resolution is stored, and the claims that got no answer
     */
    CompletableFuture<ClaimAnswers> resolveAsync(List<? extends ClaimResolution> resolutions, boolean isAwaited);
}
