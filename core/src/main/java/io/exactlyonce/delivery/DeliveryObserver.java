package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Observes subscriptions and deliveries, for example for metrics. Must not block, because the callers are threads that
 * many deliveries share:
 * <ul>
 * <li>The store's threads report claims and completions.
 * <li>The SQS client's threads report receives and deletes.
 * <li>The renewing threads report renewals.
 * </ul>
 *
 * <p>A blocked thread delays all its deliveries, until they lose their visibility timeouts and leases. Run longer work
 * on your own thread. Exceptions of an observer are logged and have no other effect.
 */
public interface DeliveryObserver {

    /** Observes the end of one call that claims keys. */
    @FunctionalInterface
    interface ClaimScope {

        /** Observes nothing. */
        ClaimScope NONE = (outcomes, failure) -> {};

        /**
         * Called once, on any thread, when the store has answered, or when the call failed and is not repeated any
         * more.
         *
         * @param outcomes one for each delivery, in the same order; empty if the call failed
         * @param failure why the call failed; {@code null} if the store has answered
         */
        void end(List<ClaimOutcome> outcomes, @Nullable Throwable failure);
    }

    /** Observes one call of a handler. */
    @FunctionalInterface
    interface HandlerScope {

        /** Observes nothing. */
        HandlerScope NONE = () -> {};

        /** Called on the handler's thread when the handler's method has returned or thrown. */
        void leave();

        /**
         * Called when the handler's work has ended, after {@link #leave}, on any thread. If the handler's method
         * returned a future, the work ends when the future completes.
         *
         * @param failure why the work failed; {@code null} if it succeeded
         */
        default void end(@Nullable Throwable failure) {}
    }

    /** A listener begins to receive from a queue. */
    default void subscribed(Subscription subscription) {}

    /** The settings of a listener's queue have changed. */
    default void changed(Subscription subscription) {}

    /** A listener has stopped receiving from a queue. */
    default void unsubscribed(Subscription subscription) {}

    /** Called for each event of a delivery. {@link DeliveryEvent.Observer} has a method for each kind of event. */
    default void on(DeliveryEvent event) {}

    /** Called for each event of a renewal or a handler's timeout. */
    default void on(RenewalEvent event) {}

    /**
     * Called before keys are claimed, even if no thread is free for a handler yet. If a call of the store is repeated,
     * this method is called only once. If a transaction is repeated, this method is called each time.
     *
     * @param deliveries the deliveries whose keys are claimed; at least one
     * @return the object to notify when the store has answered
     */
    default ClaimScope claiming(List<Delivery> deliveries) {
        return ClaimScope.NONE;
    }

    /**
     * Called before a handler is called, on the handler's thread.
     *
     * @param deliveries the deliveries that the handler gets; at least one
     * @return the object to notify when the handler's method returns, and again when the handler's work ends
     */
    default HandlerScope handling(List<Delivery> deliveries) {
        return HandlerScope.NONE;
    }
}
