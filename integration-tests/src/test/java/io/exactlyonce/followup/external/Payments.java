package io.exactlyonce.followup.external;

/** A partner system that takes idempotency keys. */
public interface Payments {

    void charge(String orderId, String idempotencyKey);
}
