package io.exactlyonce.claim;

/**
 * A claim set aside for a person's decision: nobody may run its key until then.
 *
 * @param claim the claim
 * @param reason why, for that person
 */
public record Parking(ClaimId claim, String reason) {}
