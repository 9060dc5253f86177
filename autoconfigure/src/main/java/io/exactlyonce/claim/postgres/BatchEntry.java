package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import org.jspecify.annotations.Nullable;

/** One request of a batch, and its outcome once there is one. Used by one thread. */
public final class BatchEntry {

    private final ClaimRequest request;
    private @Nullable ClaimOutcome outcome;
    private @Nullable ClaimRow contested;

    public BatchEntry(ClaimRequest request) {
        this.request = request;
    }

    public ClaimRequest request() {
        return request;
    }

    public ClaimKey key() {
        return request.key();
    }

    boolean isOpen() {
        return outcome == null;
    }

    void decide(ClaimOutcome outcome) {
        this.outcome = outcome;
    }

    /** The key could not be taken over: its row has changed, or somebody has locked it. */
    void contest(ClaimRow row) {
        contested = row;
    }

    /** Tells whether a takeover of the row as it is was tried in vain: then it was locked, since it has not changed. */
    boolean isLocked(ClaimRow row) {
        return contested != null && contested.claimId().equals(row.claimId()) && contested.status() == row.status();
    }

    ClaimOutcome outcome() {
        if (outcome == null) {
            throw new IllegalStateException("No outcome yet for " + request.key());
        }
        return outcome;
    }
}
