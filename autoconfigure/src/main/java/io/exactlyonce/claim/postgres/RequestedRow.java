package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest.InDoubt;

/**
 * One request of a batch, and the row that was found for its key.
 *
 * @param entry the request
 * @param row the row as it was read
 */
record RequestedRow(BatchEntry entry, ClaimRow row) {

    ClaimKey key() {
        return row.key();
    }

    /**
     * Tells whether an attempt at this free key may have had effects, the request leaves such keys to a person, and none
     * has decided yet.
     */
    boolean mustBeParked() {
        return row.isInDoubt() && !row.cleared() && entry.request().inDoubt() == InDoubt.PARK;
    }

    boolean isOwn() {
        return row.isHeldBy(entry.request().claimId());
    }
}
