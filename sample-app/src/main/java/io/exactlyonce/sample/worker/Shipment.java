package io.exactlyonce.sample.worker;

/**
 * A message of the shipment queue, which the handler of an order sends.
 *
 * @param orderId the order to ship
 */
record Shipment(String orderId) {}
