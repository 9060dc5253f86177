package io.exactlyonce.claim;

/**
 * A claim given up after its handler failed, so that the next attempt need not wait for the lease to end.
 *
 * @param claim the claim
 * @param error why, for people who read the table
 * @param ambiguous whether the handler was stopped from outside, so that it may have had effects that it could not
 *     report
 */
public record Release(ClaimId claim, String error, boolean ambiguous) {}
