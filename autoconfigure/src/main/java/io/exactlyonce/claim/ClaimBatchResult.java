package io.exactlyonce.claim;

import java.util.List;
import java.util.Set;

/**
 * What a store answers to a {@link ClaimBatch}.
 *
 * @param recorded the claims whose end is recorded; the ones that are missing were not held any more, unless they are locked
 * @param claimed one outcome for each request, in the same order
 * @param locked claims whose end could not be written, since another transaction keeps their rows locked; whether they hold
 *     their keys is not known, and they can be tried again
 */
public record ClaimBatchResult(Set<ClaimId> recorded, List<ClaimOutcome> claimed, Set<ClaimId> locked) {

    /** Makes an answer to all of a batch. */
    public ClaimBatchResult(Set<ClaimId> recorded, List<ClaimOutcome> claimed) {
        this(recorded, claimed, Set.of());
    }
}
