package io.exactlyonce.claim;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Claims keys and resolves claims like a {@link ClaimStore}, but returns futures instead of blocking. The methods never
 * throw: if the store fails, the future fails with the store's exception.
 *
 * <p>This interface is optional. If a {@code ClaimStore} also implements it, the library calls these methods instead of
 * the blocking ones. For other stores, a few threads of the library collect the requests of many callers, and send them
 * with {@link ClaimStore#apply}.
 *
 * <p>A future completes only when the store will no longer act on the request. So a caller that waits for the future of
 * a claim can then safely release the claim.
 *
 * <p>Actions that are chained to a future must not block, because they may run on a thread that all callers share.
 */
public interface AsyncClaimStore {

    /**
     * The store's answers to claim requests.
     *
     * @param outcomes one for each request, in the same order
     * @param askedAt when the requests were sent to the store, by {@link System#nanoTime}. Leases count from this time,
     *     and not from the call of {@link #claimAsync}, because the requests may have to queue first
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
     * Completes, releases or parks claims as {@link ClaimStore#resolve} does.
     *
     * @param resolutions at least one, and one per claim
     * @param isAwaited true if the resolutions are urgent, for example because the next message of a FIFO group must
     *     wait for them. If false, the store may delay the resolutions a little, to send several in one transaction
     * @return the claims whose resolution is stored, and the claims that got no answer
     */
    CompletableFuture<ClaimAnswers> resolveAsync(List<? extends ClaimResolution> resolutions, boolean isAwaited);
}
