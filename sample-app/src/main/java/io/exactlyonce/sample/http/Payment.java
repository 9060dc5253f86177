package io.exactlyonce.sample.http;

/**
 * The answer to a client.
 *
 * @param chargeId the provider's id of the charge
 * @param orderId the paid order
 * @param cents the amount
 */
record Payment(String chargeId, String orderId, long cents) {}
