package io.exactlyonce.claim;

import java.util.List;

/**
 * Resolutions and claim requests of many callers, which are sent to the store in one call.
 *
 * @param resolutions completions, releases and parkings of earlier claims; at most one per claim
 * @param claims requests for keys
 */
public record ClaimBatch(List<ClaimResolution> resolutions, List<ClaimRequest> claims) {

    public ClaimBatch {
        resolutions = List.copyOf(resolutions);
        claims = List.copyOf(claims);
    }

    /**
     * A store's answer to a batch.
     *
     * @param resolved the answers to the resolutions
     * @param claimed one outcome for each request, in the same order
     */
    public record Result(ClaimAnswers resolved, List<ClaimOutcome> claimed) {}
}
