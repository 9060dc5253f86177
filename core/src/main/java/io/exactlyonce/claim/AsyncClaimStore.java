package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Claims keys and ends claims as a {@link ClaimStore} does, without making the caller wait. No call throws: whatever the
 * store would throw, the future fails with.
 *
 * <p>A future ends only when nothing of its call is on its way to the store any more, so that no release that follows it can be
 * overtaken by the claim that it gives up. It may end on a thread that all calls share: what depends on it must not block.
 */
public interface AsyncClaimStore {

    /**
     * Does what {@link ClaimStore#claim} does.
     *
     * @param requests at least one
     * @return one outcome for each request, in the same order
     */
    CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests);

    /**
     * Does what {@link ClaimStore#resolve} does.
     *
     * @param resolutions at least one, and no claim is ended in two ways
     * @param isAwaited whether a caller, or the next message of a group, waits for the answer; ends that are not awaited may be
     *     kept back for a moment, so that they share a transaction
     * @return the claims whose end is recorded
     */
    CompletableFuture<Set<ClaimId>> resolveAsync(List<? extends ClaimResolution> resolutions, boolean isAwaited);
}
