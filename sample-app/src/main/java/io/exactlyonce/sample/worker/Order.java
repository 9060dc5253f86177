package io.exactlyonce.sample.worker;

/**
 * A message of the order queue.
 *
 * @param orderId identifies the order, and is its idempotency key
 * @param amountCents the amount to charge
 */
public record Order(String orderId, long amountCents) {}
