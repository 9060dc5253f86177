package io.exactlyonce.sample.provider;

/**
 * A charge.
 *
 * @param chargeId the provider's id of the charge
 * @param orderId the order
 * @param worker the worker that requested the charge first
 */
record Charge(String chargeId, String orderId, String worker) {}
