package io.exactlyonce.sample.provider;

/** Observes the requests of workers, on the request's thread. */
@FunctionalInterface
public interface ProviderObserver {

    /**
     * A charge is about to be answered.
     *
     * @param chargeId the charge's id; the id of an earlier call if the idempotency key had charged before, and no
     *     money was taken
     */
    default void charged(String orderId, String worker, String chargeId) {}

    /**
     * A handler is halfway through. The order is charged, and its confirmation is requested but not answered. The
     * worker has therefore neither recorded the order nor deleted its message. Called before the delay of the answer.
     */
    void confirmationRequested(String orderId, String worker);

    /**
     * An order is shipped.
     *
     * @param shipmentId the shipment's id; the id of an earlier call if the idempotency key had shipped before, and
     *     nothing was shipped
     */
    default void shipped(String orderId, String shipmentId) {}

    /**
     * The confirmation of an order is answered, and the rest of the handler is short. Called even if the worker was
     * killed meanwhile.
     */
    default void confirmationAnswered(String orderId, String worker) {}
}
