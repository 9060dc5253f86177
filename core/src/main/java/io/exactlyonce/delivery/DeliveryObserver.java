package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Observes subscriptions and deliveries. The working threads call an observer, and most of them are shared: the store's
 * threads report claims and completions, the SQS client's threads report receives and deletes, and the renewing threads
 * report renewals. An observer that blocks delays all deliveries, until they lose their visibility timeouts and leases:
 * run longer work on your own thread. An exception of an observer is logged and has no other effect.
 */
public interface DeliveryObserver {

    /** An observation of a call that claims keys. */
    @FunctionalInterface
    interface ClaimScope {

        /** Observes nothing. */
        ClaimScope NONE = (outcomes, failure) -> {};

        /**
         * Called once, by any thread, when the claims were answered, or finally got no answer.
         *
         * @param outcomes in the order of the deliveries; empty without an answer
         * @param failure why there is no answer; {@code null} with an answer
         */
        void end(List<ClaimOutcome> outcomes, @Nullable Throwable failure);
    }

    /** An observation of a handler call. */
    @FunctionalInterface
    interface HandlerScope {

        /** Observes nothing. */
        HandlerScope NONE = () -> {};

        /** Called on the handler's thread when its method has returned or thrown. */
        void leave();

        /**
         * Called when the handler's work has ended: when the future that its method returned completes, or when the
         * method itself ends. Called after {@link #leave}, by any thread.
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

    /** Something has happened to a delivery. {@link DeliveryEvent.Observer} has a method for each event. */
    default void on(DeliveryEvent event) {}

    /** Something has happened to a visibility timeout, a lease or a handler's timeout. */
    default void on(RenewalEvent event) {}

    /**
     * Called before the store is called for keys, which may be before there are threads for their deliveries.
     * Repetitions of a call without an answer are not reported.
     *
     * @param deliveries the deliveries whose keys are claimed; at least one
     * @return observes the outcome
     */
    default ClaimScope claiming(List<Delivery> deliveries) {
        return ClaimScope.NONE;
    }

    /**
     * Called before a handler is called, on the same thread.
     *
     * @param deliveries the handler's deliveries, each under its claim; at least one
     * @return observes the return of its method, and the end of its work
     */
    default HandlerScope handling(List<Delivery> deliveries) {
        return HandlerScope.NONE;
    }
}
