package io.exactlyonce.claim;

import java.util.UUID;

/**
 * Identifies one claim of a key. If another worker takes the key over, its claim has another id.
 *
 * @param key the claimed key
 * @param value the UUID that the client made for this claim
 */
public record ClaimId(ClaimKey key, UUID value) {}
