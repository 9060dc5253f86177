package io.exactlyonce.sample.provider;

/**
 * Money taken.
 *
 * @param chargeId the provider's id for it
 * @param orderId what for
 * @param worker the worker that asked first
 */
record Charge(String chargeId, String orderId, String worker) {}
