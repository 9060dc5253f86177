package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;

/**
 * What a store answers to a {@link ClaimBatch}.
 *
 * @param completed the claims that are completed; the ones that are missing are lost
 * @param released the claims that were given up; the ones that are missing were not held any more
 * @param parked the claims that were parked; the ones that are missing were not held any more
 * @param claimed one outcome for each request, in the same order
 */
public record ClaimBatchResult(
        Set<ClaimId> completed, Set<ClaimId> released, Set<ClaimId> parked, List<ClaimOutcome> claimed) {}
