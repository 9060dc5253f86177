package io.exactlyonce.sample.http;

/**
 * What a client asks for.
 *
 * @param orderId the order that is paid for
 * @param cents how much
 */
record PaymentRequest(String orderId, long cents) {}
