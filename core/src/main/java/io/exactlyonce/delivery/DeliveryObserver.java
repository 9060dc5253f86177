package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Observes subscriptions and deliveries. The thread that does the work calls the observer, and most of these threads
 * are shared by many deliveries:
 * <ul>
 * <li>The store's threads report claims and completions.
 * <li>The SQS client's threads report receives and deletes.
 * <li>The renewing threads report renewals.
 * </ul>
 *
 * <p>An observer that blocks delays all deliveries, until they lose their visibility timeouts and leases. Run longer
 * work on your own thread. An exception of an observer is logged and has no other effect.
 */
public interface DeliveryObserver {

    /** The observation of a call that claims keys. */
    @FunctionalInterface
    interface ClaimScope {

        /** Observes nothing. */
        ClaimScope NONE = (outcomes, failure) -> {};

        /**
         * Called once, on any thread, when the claims were answered, or when no answer is expected any more.
         *
         * @param outcomes in the order of the deliveries; empty if there is no answer
         * @param failure why there is no answer; {@code null} if there is one
         */
        void end(List<ClaimOutcome> outcomes, @Nullable Throwable failure);
    }

    /** The observation of a handler call. */
    @FunctionalInterface
    interface HandlerScope {

        /** Observes nothing. */
        HandlerScope NONE = () -> {};

        /** Called on the handler's thread when the handler's method has returned or thrown. */
        void leave();

        /**
         * Called when the handler's work has ended. If the handler's method returned a future, the work ends when the
         * future completes. Called after {@link #leave}, on any thread.
         *
         * @param failure why the work failed; {@code null} if the work succeeded
         */
        default void end(@Nullable Throwable failure) {}
    }

    /** A listener begins to receive from a queue. */
    default void subscribed(Subscription subscription) {}

    /** The settings of a listener's queue have changed. */
    default void changed(Subscription subscription) {}

    /** A listener has stopped receiving from a queue. */
    default void unsubscribed(Subscription subscription) {}

    /** An event of a delivery. {@link DeliveryEvent.Observer} has a method for each event. */
    default void on(DeliveryEvent event) {}

    /** An event of a visibility timeout, a lease or a handler's timeout. */
    default void on(RenewalEvent event) {}

    /**
     * Called before keys are claimed, even if no thread is free for their deliveries yet. If a call of the store gets
     * no answer and is repeated, the repetition is not reported. If a transaction is repeated, each transaction is
     * reported.
     *
     * @param deliveries the deliveries whose keys are claimed; at least one
     * @return observes the outcome of the claims
     */
    default ClaimScope claiming(List<Delivery> deliveries) {
        return ClaimScope.NONE;
    }

    /**
     * Called before a handler is called, on the handler's thread.
     *
     * @param deliveries the deliveries that the handler gets; at least one
     * @return observes the return of the handler's method, and the end of the handler's work
     */
    default HandlerScope handling(List<Delivery> deliveries) {
        return HandlerScope.NONE;
    }
}
