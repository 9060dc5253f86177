package io.exactlyonce.claim;

import io.exactlyonce.boundary.OneLine;
import org.jspecify.annotations.Nullable;

/** Tells the store how a claim ended: it was completed, released or parked. */
public sealed interface ClaimResolution {

    /** Maximum length of an error or a reason, in characters. Longer texts are cut. */
    int MAX_ERROR_LENGTH = 1_000;

    /** Returns the claim to resolve. */
    ClaimId claim();

    /**
     * Returns whether an attempt may have had effects that are not recorded, for example because its handler was stopped
     * by a timeout.
     */
    default boolean inDoubt() {
        return false;
    }

    /** Returns whether the attempt threw an exception. If it did, the store adds one to the key's failures. */
    default boolean threw() {
        return false;
    }

    /**
     * Completes a claim, because the key's effect has happened.
     *
     * @param result the handler's result as JSON, or {@code null} if it has none
     */
    record Completed(ClaimId claim, @Nullable String result) implements ClaimResolution {}

    /**
     * Releases a claim whose work is not done. The next attempt can then start before the lease expires.
     *
     * @param error why the claim was released, for operators; kept as one line of at most {@value #MAX_ERROR_LENGTH}
     *     characters
     * @param inDoubt whether an attempt may have had effects that are not recorded
     * @param threw whether the attempt threw an exception. If it did, the store adds one to the key's failures
     */
    record Released(ClaimId claim, String error, boolean inDoubt, boolean threw) implements ClaimResolution {

        public Released {
            error = line(error);
        }

        /** Releases a claim whose attempt threw no exception: it was stopped, or its handler was not called. */
        public Released(ClaimId claim, String error, boolean inDoubt) {
            this(claim, error, inDoubt, false);
        }
    }

    /**
     * Parks a claim. No attempt at its key runs until an operator decides.
     *
     * @param reason why the claim was parked, for the operator; kept as one line of at most {@value #MAX_ERROR_LENGTH}
     *     characters
     * @param inDoubt whether an attempt may have had effects that are not recorded
     * @param threw whether the attempt threw an exception. If it did, the store adds one to the key's failures
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
     * Shortens a text to one line, so that the store does not reject it as too long. Exceptions may quote whole
     * messages.
     */
    private static String line(String text) {
        return OneLine.of(text, MAX_ERROR_LENGTH);
    }
}
