package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest.InDoubt;

/**
 * One request of a batch, and the row that was found for its key.
 *
 * @param entry the request
 * @param row the row as it was read
 */
public record RequestedRow(BatchEntry entry, ClaimRow row) {

    ClaimKey key() {
        return row.key();
    }

    /**
     * Tells whether an attempt at this free key may have had effects, the request leaves such keys to a person, and none
     * has decided yet.
     */
    public boolean mustBeParked() {
        return row.isInDoubt() && !row.cleared() && entry.request().inDoubt() == InDoubt.PARK;
    }

    /** Notes that the row is about to be written, if nobody has locked it. */
    public void contest() {
        entry.contest(row);
    }

    /** Tells whether writing the row as it is was tried in vain. */
    public boolean isLocked() {
        return entry.isLocked(row);
    }

    boolean isOwn() {
        return row.isHeldBy(entry.request().claimId());
    }
}
