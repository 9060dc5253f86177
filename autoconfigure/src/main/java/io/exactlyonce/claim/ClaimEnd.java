package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/** How a claim ends, unless its lease does it. */
public sealed interface ClaimEnd {

    /** Returns the claim that ends. */
    ClaimId claim();

    /** Returns whether the handler was stopped from outside, so that it may have had effects that it could not report. */
    default boolean ambiguous() {
        return false;
    }

    /**
     * A claim's good end: its effect has happened.
     *
     * @param claim the claim
     * @param result the handler's result as JSON, or {@code null} if it has none
     */
    record Completed(ClaimId claim, @Nullable String result) implements ClaimEnd {}

    /**
     * A claim given up after its handler failed, so that the next attempt need not wait for the lease to end.
     *
     * @param claim the claim
     * @param error why, for people who read the table
     * @param ambiguous whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     */
    record Released(ClaimId claim, String error, boolean ambiguous) implements ClaimEnd {}

    /**
     * A claim set aside for a person's decision: its key is run by no attempt until then.
     *
     * @param claim the claim
     * @param reason why, for that person
     * @param ambiguous whether the handler was stopped from outside, so that it may have had effects that it could not
     *     report
     */
    record Parked(ClaimId claim, String reason, boolean ambiguous) implements ClaimEnd {}
}
