package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Claim;

/**
 * A message of a batch that its handler is given.
 *
 * @param index its position in the batch as it was received, from 0
 * @param claim the claim on its key
 */
public record ClaimedItem(int index, Claim claim) {}
