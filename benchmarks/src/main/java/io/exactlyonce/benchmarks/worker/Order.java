package io.exactlyonce.benchmarks.worker;

/**
 * A message's payload.
 *
 * @param orderId the idempotency key
 * @param number counts the orders of a turn from 0
 * @param amount something to write
 */
public record Order(String orderId, int number, long amount) {}
