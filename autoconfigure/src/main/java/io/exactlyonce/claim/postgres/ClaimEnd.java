package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import org.jspecify.annotations.Nullable;

/**
 * How a claim ends, as it is written to its row.
 *
 * @param result what a completion leaves, as JSON
 * @param error what a release or a parking leaves
 */
record ClaimEnd(
        ClaimId claim,
        ClaimRow.Status status,
        @Nullable String result,
        @Nullable String error,
        boolean ambiguous) {

    static ClaimEnd of(Completion completion) {
        return new ClaimEnd(completion.claim(), ClaimRow.Status.COMPLETED, completion.result(), null, false);
    }

    static ClaimEnd of(Release release) {
        String error = ErrorText.storable(release.error());
        return new ClaimEnd(release.claim(), ClaimRow.Status.RELEASED, null, error, release.ambiguous());
    }

    static ClaimEnd of(Parking parking) {
        return new ClaimEnd(
                parking.claim(),
                ClaimRow.Status.PARKED,
                null,
                ErrorText.storable(parking.reason()),
                parking.ambiguous());
    }

    /** Names the claim and its end only: a result is no business of a log's. */
    @Override
    public String toString() {
        return claim.key() + " " + status;
    }
}
