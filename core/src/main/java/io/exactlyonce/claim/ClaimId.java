package io.exactlyonce.claim;

import java.util.UUID;

/**
 * Names one claim of one key: a takeover of the key has another.
 *
 * @param key the key
 * @param value the identity that the client gave to the claim
 */
public record ClaimId(ClaimKey key, UUID value) {}
