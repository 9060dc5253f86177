package io.exactlyonce.sample.http;

/**
 * A client's request.
 *
 * @param orderId the order to pay
 * @param cents the amount
 */
record PaymentRequest(String orderId, long cents) {}
