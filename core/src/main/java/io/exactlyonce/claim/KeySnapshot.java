package io.exactlyonce.claim;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A key's data that the store has just read. With this data, {@link #decide} decides whether a claim request gets the
 * key. The rules are the same for all stores. The store then writes the decision if the key is unchanged. If another
 * writer has changed the key, the store reads it again and repeats the decision.
 *
 * @param status the stored status of the key
 * @param claimId the last claim of the key
 * @param attempt the number of the last claim, from 1
 * @param fencingToken the token of the last claim
 * @param inDoubt whether the last attempt, or one before it, may have had effects that are not recorded
 * @param cleared whether an operator has released the key since the last claim
 * @param leaseRemaining the time until the last claim's lease expires, by the store's clock; zero or negative if it has
 *     expired
 * @param nextToken the token for a new claim of the key, greater than {@code fencingToken}
 * @param fingerprint the payload fingerprint of the last claim, or {@code null} if it is not known
 * @param result the stored result as JSON, or {@code null} if there is none
 * @param failures how many attempts threw an exception. If an operator releases the key, the number restarts at 0
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
        /** Inserts the first claim of the key, unless another claim has been inserted in the meantime. */
        CLAIM_FIRST,
        /** Extends the lease of the request's own claim, if that claim still holds the key. */
        RENEW,
        /** Gives the key to the request's claim, if the key is unchanged. */
        TAKE_OVER,
        /** Parks the key because it is in doubt, if the key is unchanged. */
        PARK
    }

    /**
     * The decision on a request.
     *
     * @param action the write that the store must do
     * @param outcome the answer to the request if the write succeeds
     */
    public record Decision(Action action, ClaimOutcome outcome) {

        /**
         * Decides on a key that the store does not know, because it was never claimed, or its claim was deleted.
         *
         * @param token a number greater than all earlier tokens of the key, for example the time in microseconds
         */
        public static Decision first(long token) {
            return new Decision(Action.CLAIM_FIRST, new Acquired(1, token, false));
        }

        private static Decision refuse(ClaimOutcome outcome) {
            return new Decision(Action.REFUSE, outcome);
        }

        /** Returns the claim that is made or extended. Call this only if the outcome is {@link Acquired}. */
        public Acquired claim() {
            return (Acquired) outcome;
        }
    }

    /**
     * Decides on a request, by the first row of this table that applies:
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
     * <tr><td>is in doubt, no operator has released it, and the request says {@code PARK}</td><td>park</td><td>parked
     * </td></tr>
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

    /** Returns the key's state, for deliveries that wait until they can claim the key. */
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

    /** Returns whether a new request can claim the key, because it was released or its lease has expired. */
    private boolean isFree() {
        return status == KeyStatus.RELEASED
                || (status == KeyStatus.HELD && leaseRemaining.compareTo(Duration.ZERO) <= 0);
    }

    private boolean wasReleasedBy(UUID claim) {
        return status == KeyStatus.RELEASED && claimId.equals(claim);
    }

    private boolean mustBeParked(ClaimRequest request) {
        return isNextInDoubt() && !cleared && request.inDoubt() == InDoubt.PARK;
    }

    /**
     * Returns whether the next claim of this free key is in doubt. The status {@code HELD} means here that the lease
     * expired before the owner reported how its claim ended.
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
