package io.exactlyonce.claim.postgres;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import org.jspecify.annotations.Nullable;

/** One request, the row that was met for its key, and its outcome once there is one. Used by one thread. */
public final class RequestedRow {

    private final ClaimRequest request;
    private @Nullable ClaimRow row;
    private @Nullable ClaimRow contested;
    private @Nullable ClaimOutcome outcome;

    public RequestedRow(ClaimRequest request) {
        this.request = request;
    }

    public ClaimRequest request() {
        return request;
    }

    public ClaimKey key() {
        return request.key();
    }

    /** Notes the row as the last statement read it. */
    public RequestedRow met(ClaimRow found) {
        row = found;
        return this;
    }

    /** Notes that the last statement saw no row: it is too young. */
    public void missed() {
        row = null;
    }

    /** Returns whether the last statement saw a row. */
    public boolean isMet() {
        return row != null;
    }

    /** Returns the row that was met last. Only once there is one. */
    public ClaimRow row() {
        if (row == null) {
            throw new IllegalStateException("No row met yet for " + request.key());
        }
        return row;
    }

    boolean isOwn() {
        return row().isHeldBy(request.claimId());
    }

    /**
     * Returns whether an attempt at this free key may have had effects, the request leaves such keys to a person, and no
     * person has decided yet.
     */
    public boolean mustBeParked() {
        return row().isInDoubt() && !row().cleared() && request.inDoubt() == InDoubt.PARK;
    }

    /** Notes that the row is about to be written, unless another transaction has changed or locked it. */
    public void contest() {
        contested = row();
    }

    /**
     * Returns whether the request cannot have this free key: it comes late, since its own claim held the key and was given up;
     * or another transaction has the row, for how long is not known.
     */
    public boolean isOutOfReach() {
        return row().wasReleasedBy(request.claimId()) || isLocked();
    }

    /** Returns whether writing this unchanged row already failed, which means that another transaction holds its lock. */
    private boolean isLocked() {
        return contested != null && contested.claimId().equals(row().claimId()) && contested.status() == row().status();
    }

    public boolean isOpen() {
        return outcome == null;
    }

    public void decide(ClaimOutcome outcome) {
        this.outcome = outcome;
    }

    public ClaimOutcome outcome() {
        if (outcome == null) {
            throw new IllegalStateException("No outcome yet for " + request.key());
        }
        return outcome;
    }
}
