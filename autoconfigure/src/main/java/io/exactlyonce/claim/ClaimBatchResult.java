package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;

/**
 * What a store answers to a {@link ClaimBatch}.
 *
 * @param completed the claims that are completed; the ones that are missing are lost, unless they are locked
 * @param released the claims that were given up; the ones that are missing were not held any more, unless they are locked
 * @param parked the claims that were parked; the ones that are missing were not held any more, unless they are locked
 * @param claimed one outcome for each request, in the same order
 * @param locked claims whose end could not be written, since somebody else's transaction keeps their rows locked; whether
 *     they hold their keys is not known, and they can be tried again
 */
public record ClaimBatchResult(
        Set<ClaimId> completed,
        Set<ClaimId> released,
        Set<ClaimId> parked,
        List<ClaimOutcome> claimed,
        Set<ClaimId> locked) {

    /** Makes an answer to all of a batch. */
    public ClaimBatchResult(
            Set<ClaimId> completed, Set<ClaimId> released, Set<ClaimId> parked, List<ClaimOutcome> claimed) {
        this(completed, released, parked, claimed, Set.of());
    }
}
