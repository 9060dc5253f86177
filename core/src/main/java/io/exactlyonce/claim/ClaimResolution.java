package io.exactlyonce.claim;

import io.exactlyonce.boundary.OneLine;
import org.jspecify.annotations.Nullable;

/** A reported end of a claim: its completion, release or parking. */
public sealed interface ClaimResolution {

    /**
     * The largest length of an error or a reason, in characters. A longer text is cut, because every later write of the
     * key may copy the text.
     */
    int MAX_ERROR_LENGTH = 1_000;

    /** Returns the claim to resolve. */
    ClaimId claim();

    /**
     * Returns whether the handler was stopped from outside. Such a handler may have had effects that it could not
     * report.
     */
    default boolean inDoubt() {
        return false;
    }

    /** Returns whether the attempt threw, which adds one to the key's failures. */
    default boolean threw() {
        return false;
    }

    /**
     * Completes a claim, because the key's effect has happened.
     *
     * @param claim the claim
     * @param result the handler's result as JSON, or {@code null} if it has none
     */
    record Completed(ClaimId claim, @Nullable String result) implements ClaimResolution {}

    /**
     * Releases a claim whose work is not done, so that the next attempt need not wait until the lease expires.
     *
     * @param claim the claim
     * @param error the reason, for operators who read the table; kept as one line of at most {@value #MAX_ERROR_LENGTH}
     *     characters
     * @param inDoubt whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     * @param threw whether the attempt threw, which adds one to the key's failures
     */
    record Released(ClaimId claim, String error, boolean inDoubt, boolean threw) implements ClaimResolution {

        public Released {
            error = line(error);
        }

        /**
         * Releases a claim whose attempt did not throw, because it was stopped or because its handler was not called.
         */
        public Released(ClaimId claim, String error, boolean inDoubt) {
            this(claim, error, inDoubt, false);
        }
    }

    /**
     * Parks a claim. No attempt at its key runs until an operator decides.
     *
     * @param claim the claim
     * @param reason the reason, for the operator; kept as one line of at most {@value #MAX_ERROR_LENGTH} characters
     * @param inDoubt whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     * @param threw whether the attempt threw, which adds one to the key's failures
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
     * Returns the text as one line of bounded length. A handler's exception may quote the whole message, and a long
     * text must not make the store reject the write.
     */
    private static String line(String text) {
        return OneLine.of(text, MAX_ERROR_LENGTH);
    }
}
