package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;

/**
 * What many callers want of a store at the same time: ends of claims, and new claims.
 *
 * @param resolutions of claims that were made before, none of them ended in two ways
 * @param claims requests to hold a key
 */
public record ClaimBatch(List<ClaimResolution> resolutions, List<ClaimRequest> claims) {

    public ClaimBatch {
        resolutions = List.copyOf(resolutions);
        claims = List.copyOf(claims);
    }

    /**
     * What a store answers to a batch.
     *
     * @param recorded the claims whose end is recorded; the ones that are missing were not held any more, unless they got no
     *     answer
     * @param claimed one outcome for each request, in the same order
     * @param unanswered claims whose end could not be written, as where another transaction keeps their rows locked; whether they
     *     hold their keys is not known, and they can be tried again
     */
    public record Result(Set<ClaimId> recorded, List<ClaimOutcome> claimed, Set<ClaimId> unanswered) {}
}
