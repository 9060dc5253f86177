package io.exactlyonce.claim;

/**
 * A claim set aside for a person's decision: nobody may run its key until then.
 *
 * @param claim the claim
 * @param reason why, for that person
 * @param ambiguous whether the handler was stopped from outside, so that it may have had effects that it could not report
 */
public record Parking(ClaimId claim, String reason, boolean ambiguous) {}
