package io.exactlyonce.sample.http;

/**
 * What a client gets.
 *
 * @param chargeId the provider's name for the charge
 * @param orderId the order that was paid for
 * @param cents how much
 */
record Payment(String chargeId, String orderId, long cents) {}
