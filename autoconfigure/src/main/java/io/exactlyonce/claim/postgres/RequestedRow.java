package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;

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

    boolean isOwn() {
        return row.isHeldBy(entry.request().claimId());
    }
}
