package io.exactlyonce.claim;

import io.exactlyonce.boundary.OneLine;
import org.jspecify.annotations.Nullable;

/** The end of a claim, unless its lease expires. */
public sealed interface ClaimResolution {

    /** Longest error or reason that is kept, in characters: it is for people, and every write of a claim may copy it. */
    int MAX_ERROR_LENGTH = 1_000;

    /** Returns the claim that ends. */
    ClaimId claim();

    /** Returns whether the handler was stopped from outside, so that it may have had effects that it could not report. */
    default boolean inDoubt() {
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
     */
    record Released(ClaimId claim, String error, boolean inDoubt) implements ClaimResolution {

        public Released {
            error = line(error);
        }
    }

    /**
     * Parks a claim until an operator decides: no attempt runs its key until then.
     *
     * @param claim the claim
     * @param reason the reason, for the operator; kept as one line of at most {@value #MAX_ERROR_LENGTH} characters
     * @param inDoubt whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     */
    record Parked(ClaimId claim, String reason, boolean inDoubt) implements ClaimResolution {

        public Parked {
            reason = line(reason);
        }
    }

    /** Makes one line of a handler's exception, which may quote the whole message. An error must not cost the write that records it. */
    private static String line(String text) {
        return OneLine.of(text, MAX_ERROR_LENGTH);
    }
}
