package io.exactlyonce.sample.provider;

/** Learns of what workers ask for, on the request's thread. */
@FunctionalInterface
public interface ProviderObserver {

    /**
     * A worker is about to be told of its charge.
     *
     * @param chargeId the same as of an earlier call if the idempotency key had charged before: no money was taken
     */
    default void charged(String orderId, String worker, String chargeId) {}

    /**
     * A handler is in its middle: the order is charged, its confirmation was asked for and is not answered yet, so the
     * worker has neither recorded the order nor acknowledged its message. Called before the answer's delay begins.
     */
    void confirmationRequested(String orderId, String worker);

    /**
     * An order is shipped.
     *
     * @param shipmentId the same as of an earlier call if the idempotency key had shipped before: nothing was shipped
     */
    default void shipped(String orderId, String shipmentId) {}

    /** What is left of a handler is short. Called even if its worker was killed meanwhile. */
    default void confirmationAnswered(String orderId, String worker) {}
}
