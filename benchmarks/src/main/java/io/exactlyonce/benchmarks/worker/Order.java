package io.exactlyonce.benchmarks.worker;

/**
 * A message's payload.
 *
 * @param orderId the idempotency key
 * @param number the number of the order in its turn, counted from 0
 * @param amount a value to write
 */
public record Order(String orderId, int number, long amount) {}
