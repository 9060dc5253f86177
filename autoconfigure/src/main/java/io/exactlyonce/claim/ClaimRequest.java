package io.exactlyonce.claim;

import java.time.Duration;
import java.util.UUID;

/**
 * A request to hold a key.
 *
 * @param key the key
 * @param claimId made by the client, new for each request and the same for its retries: a retry after a lost reply finds
 *     its own claim by it, and every later write names it
 * @param owner who asks, for people who read the table
 * @param lease how long the claim holds unless it is renewed, counted by the store's clock
 */
public record ClaimRequest(ClaimKey key, UUID claimId, String owner, Duration lease) {

    public ClaimRequest {
        Leases.requireValid(lease);
    }

    /** Names the claim that this request makes. */
    public ClaimId id() {
        return new ClaimId(key, claimId);
    }
}
