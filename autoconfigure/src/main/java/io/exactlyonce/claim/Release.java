package io.exactlyonce.claim;

/**
 * A claim given up after its handler failed, so that the next attempt need not wait for the lease to end.
 *
 * @param claim the claim
 * @param error why, for people who read the table
 */
public record Release(ClaimId claim, String error) {}
