package io.exactlyonce.followup.external;

/** A partner system at the end of the chain. */
public interface Carrier {

    void order(String orderId, String idempotencyKey);
}
