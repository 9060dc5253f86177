package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/**
 * A claim's good end.
 *
 * @param claim the claim
 * @param result the handler's result as JSON, or {@code null} if it has none
 */
public record Completion(ClaimId claim, @Nullable String result) {}
