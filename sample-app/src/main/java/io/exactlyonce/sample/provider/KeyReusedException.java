package io.exactlyonce.sample.provider;

/** An idempotency key arrived with another order, so the caller's keys are not unique. */
final class KeyReusedException extends RuntimeException {

    KeyReusedException(String firstOrderId, String orderId) {
        super("The idempotency key of order %s came again with order %s: a key must belong to one order"
                .formatted(firstOrderId, orderId));
    }
}
