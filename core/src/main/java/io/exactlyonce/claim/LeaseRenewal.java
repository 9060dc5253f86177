package io.exactlyonce.claim;

import java.time.Duration;

/**
 * A request to extend a claim's lease.
 *
 * @param claim the claim
 * @param lease how long the claim holds its key after the renewal, by the store's clock
 */
public record LeaseRenewal(ClaimId claim, Duration lease) {

    private static final Duration SHORTEST = Duration.ofMillis(100);

    public LeaseRenewal {
        requireValid(lease);
    }

    /** Throws an exception if a lease is shorter than 100 ms. */
    static void requireValid(Duration lease) {
        if (lease.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("lease (%s) must be at least %s".formatted(lease, SHORTEST));
        }
    }
}
