package io.exactlyonce.claim;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A key as its store has read it. The decision on a request for the key is the same for all stores: a store reads a
 * snapshot, and then writes the decision on condition that the key is unchanged. If the key has changed, the store
 * reads the key and decides again.
 *
 * @param status the status that the last write left
 * @param claimId the last claim of the key
 * @param attempt the number of the last claim, from 1
 * @param fencingToken the token of the last claim
 * @param inDoubt whether the last claim, or an attempt before it, is in doubt
 * @param cleared whether an operator has released the key since the last claim
 * @param leaseRemaining the rest of the last claim's lease, by the store's clock; not positive if the lease has expired
 * @param nextToken the token of the next claim, greater than {@code fencingToken}
 * @param fingerprint the fingerprint of the payload for which the key was last claimed, or {@code null} if it is not
 *     known
 * @param result the stored result as JSON, or {@code null} if there is none
 * @param failures the number of attempts that threw. After an operator has released the key, only the attempts since
 *     that release count
 */
public record KeySnapshot(
        KeyStatus status,
        UUID claimId,
        int attempt,
        long fencingToken,
        boolean inDoubt,
        boolean cleared,
        Duration leaseRemaining,
        long nextToken,
        @Nullable String fingerprint,
        @Nullable String result,
        int failures) {

    /** The write that follows from a request. */
    public enum Action {
        /** Writes nothing. */
        REFUSE,
        /** Makes the first claim of a key, if the store still does not know the key. */
        CLAIM_FIRST,
        /** Extends the lease of the request's own claim, if that claim still holds the key. */
        RENEW,
        /** Gives the key to the request's claim, if the key is unchanged. */
        TAKE_OVER,
        /** Parks the key, which is in doubt, if the key is unchanged. */
        PARK
    }

    /**
     * A decision on a request.
     *
     * @param action the write that the store must do
     * @param outcome the answer to the request after the write
     */
    public record Decision(Action action, ClaimOutcome outcome) {

        /**
         * Decides on a key without a snapshot. The key was never claimed, or the store has deleted its claim.
         *
         * @param token greater than the tokens of a deleted claim, for example the time in microseconds
         */
        public static Decision first(long token) {
            return new Decision(Action.CLAIM_FIRST, new Acquired(1, token, false));
        }

        private static Decision refuse(ClaimOutcome outcome) {
            return new Decision(Action.REFUSE, outcome);
        }

        /** Returns the claim that the action makes or extends. Fails for an action that grants no claim. */
        public Acquired claim() {
            return (Acquired) outcome;
        }
    }

    /**
     * Decides on a request. The first row that applies decides:
     *
     * <table>
     * <caption>Decisions</caption>
     * <tr><th>The key</th><th>Action</th><th>Outcome</th></tr>
     * <tr><td>is held by the request's own claim, even if its lease has expired</td><td>renew</td><td>acquired
     * again</td></tr>
     * <tr><td>is completed</td><td>refuse</td><td>completed, or mismatch for another payload</td></tr>
     * <tr><td>is parked</td><td>refuse</td><td>parked</td></tr>
     * <tr><td>is held by another claim, whose lease has not expired</td><td>refuse</td><td>held elsewhere for the rest
     * of the lease</td></tr>
     * <tr><td>was last held by the request's own claim, which was released</td><td>refuse</td><td>held elsewhere,
     * because a released claim never holds its key again</td></tr>
     * <tr><td>is in doubt, no operator has released it, and the request parks</td><td>park</td><td>parked</td></tr>
     * <tr><td>was released, or its lease has expired</td><td>take over</td><td>acquired</td></tr>
     * </table>
     */
    public Decision decide(ClaimRequest request) {
        if (isHeldBy(request.claimId())) {
            return new Decision(Action.RENEW, new Acquired(attempt, fencingToken, inDoubt, failures));
        }
        if (!isFree()) {
            return Decision.refuse(refusal(request));
        }
        if (wasReleasedBy(request.claimId())) {
            return Decision.refuse(new HeldElsewhere(Duration.ZERO));
        }
        if (mustBeParked(request)) {
            return new Decision(Action.PARK, new ClaimOutcome.Parked());
        }
        return new Decision(Action.TAKE_OVER, new Acquired(attempt + 1, nextToken, isNextInDoubt(), failures));
    }

    private ClaimOutcome refusal(ClaimRequest request) {
        return switch (status) {
            case COMPLETED -> ClaimOutcome.ofCompleted(request, fingerprint, result);
            case PARKED -> new ClaimOutcome.Parked();
            case HELD, RELEASED -> ClaimOutcome.ofHeld(request, fingerprint, leaseRemaining);
        };
    }

    /** Returns the state that a delivery finds if it waits for the key. */
    public KeyState state() {
        return isFree()
                ? KeyState.FREE
                : switch (status) {
                    case COMPLETED -> KeyState.completed(fingerprint);
                    case PARKED -> KeyState.PARKED;
                    case HELD, RELEASED -> KeyState.HELD;
                };
    }

    /** Returns whether this claim holds the key, even if its lease has expired. */
    public boolean isHeldBy(UUID claim) {
        return status == KeyStatus.HELD && claimId.equals(claim);
    }

    /** Returns whether the key was released or its lease has expired. A new request may then claim the key. */
    private boolean isFree() {
        return status == KeyStatus.RELEASED
                || (status == KeyStatus.HELD && leaseRemaining.compareTo(Duration.ZERO) <= 0);
    }

    private boolean wasReleasedBy(UUID claim) {
        return status == KeyStatus.RELEASED && claimId.equals(claim);
    }

    /**
     * Returns whether a request parks a free key: the key is in doubt, no operator has released it, and the request's
     * policy is to park.
     */
    private boolean mustBeParked(ClaimRequest request) {
        return isNextInDoubt() && !cleared && request.inDoubt() == InDoubt.PARK;
    }

    /**
     * Returns whether the next claim of a free key is in doubt: an earlier claim was in doubt, or the last owner
     * reported nothing before its lease expired.
     */
    private boolean isNextInDoubt() {
        return inDoubt || status == KeyStatus.HELD;
    }

    /** Returns the status and the attempt. The result is left out, because results must not be logged. */
    @Override
    public String toString() {
        return status + " attempt " + attempt;
    }
}
