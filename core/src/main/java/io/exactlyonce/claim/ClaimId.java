package io.exactlyonce.claim;

import java.util.UUID;

/**
 * The identity of one claim of one key. A claim that takes the key over has another identity.
 *
 * @param key the key
 * @param value the identity that the client gave to the claim
 */
public record ClaimId(ClaimKey key, UUID value) {}
