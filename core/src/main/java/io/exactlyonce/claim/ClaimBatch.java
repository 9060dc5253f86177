package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;

/**
 * Resolutions and requests of many callers, in one call of a store.
 *
 * @param resolutions of earlier claims, one per claim
 * @param claims requests to hold a key
 */
public record ClaimBatch(List<ClaimResolution> resolutions, List<ClaimRequest> claims) {

    public ClaimBatch {
        resolutions = List.copyOf(resolutions);
        claims = List.copyOf(claims);
    }

    /**
     * A store's answer to a batch.
     *
     * @param recorded the claims whose resolution is recorded; missing ones were no longer held, unless they got no
     *     answer
     * @param claimed one outcome for each request, in the same order
     * @param unanswered claims whose resolution could not be written, for example because another transaction locks
     *     their rows; they may still hold their keys, and can be retried
     */
    public record Result(Set<ClaimId> recorded, List<ClaimOutcome> claimed, Set<ClaimId> unanswered) {}
}
