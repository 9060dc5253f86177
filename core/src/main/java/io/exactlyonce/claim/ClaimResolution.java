package io.exactlyonce.claim;

import io.exactlyonce.boundary.OneLine;
import org.jspecify.annotations.Nullable;

/** An end of a claim other than the expiry of its lease. */
public sealed interface ClaimResolution {

    /**
     * Longest error or reason that a store keeps, in characters. Errors are for people to read, and every write of a
     * claim may copy them.
     */
    int MAX_ERROR_LENGTH = 1_000;

    /** Returns the claim to resolve. */
    ClaimId claim();

    /**
     * Returns whether the handler was stopped from outside, so that it may have had effects that it could not report.
     */
    default boolean inDoubt() {
        return false;
    }

    /** Returns whether the attempt threw, so that its key has one more failure. */
    default boolean threw() {
        return false;
    }

    /**
     * Completes a claim: its effect has happened.
     *
     * @param claim the claim
     * @param result the handler's result as JSON, or {@code null} if it has none
     */
    record Completed(ClaimId claim, @Nullable String result) implements ClaimResolution {}

    /**
     * Releases a claim after its handler failed, so that the next attempt need not wait for the lease to end.
     *
     * @param claim the claim
     * @param error the reason, for operators who read the table; kept as one line of at most {@value #MAX_ERROR_LENGTH}
     *     characters
     * @param inDoubt whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     * @param threw whether the attempt threw, so that its key has one more failure
     */
    record Released(ClaimId claim, String error, boolean inDoubt, boolean threw) implements ClaimResolution {

        public Released {
            error = line(error);
        }

        /** Releases a claim whose attempt did not throw: it was stopped, or its handler was not called. */
        public Released(ClaimId claim, String error, boolean inDoubt) {
            this(claim, error, inDoubt, false);
        }
    }

    /**
     * Parks a claim until an operator decides: no attempt runs its key until then.
     *
     * @param claim the claim
     * @param reason the reason, for the operator; kept as one line of at most {@value #MAX_ERROR_LENGTH} characters
     * @param inDoubt whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     * @param threw whether the attempt threw, so that its key has one more failure
     */
    record Parked(ClaimId claim, String reason, boolean inDoubt, boolean threw) implements ClaimResolution {

        public Parked {
            reason = line(reason);
        }

        /** Parks a claim whose attempt did not throw. */
        public Parked(ClaimId claim, String reason, boolean inDoubt) {
            this(claim, reason, inDoubt, false);
        }
    }

    /**
     * Makes one line of bounded length, because a handler's exception may quote the whole message, and its text must
     * not make the store reject the write.
     */
    private static String line(String text) {
        return OneLine.of(text, MAX_ERROR_LENGTH);
    }
}
