package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Claim;

/**
 * A delivery that its handler is given.
 *
 * @param index its position among those that were received together, from 0
 * @param claim the claim on its key
 */
public record ClaimedDelivery(int index, Claim claim) {}
