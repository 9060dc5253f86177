package io.exactlyonce.claim;

import java.time.Duration;

/**
 * A request to extend a claim's lease.
 *
 * @param claim the claim
 * @param lease how long it holds from now on, counted by the store's clock
 */
public record LeaseRenewal(ClaimId claim, Duration lease) {

    public LeaseRenewal {
        Leases.requireValid(lease);
    }
}
