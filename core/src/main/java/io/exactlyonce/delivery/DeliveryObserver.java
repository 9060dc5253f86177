package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Observes subscriptions and deliveries. Called by the threads that do the work, most of which are shared: the store's,
 * which report claims and completions, the SQS client's, which report receives and deletes, and those that renew. An
 * observer that blocks delays all deliveries until they lose their visibility timeouts and leases: run longer work on
 * your own thread. Its exceptions are logged and have no other effect.
 */
public interface DeliveryObserver {

    /** An observation of a call that claims keys. */
    @FunctionalInterface
    interface ClaimScope {

        /** Has begun nothing. */
        ClaimScope NONE = (outcomes, failure) -> {};

        /**
         * There is an answer, or there will be none. Called once, by any thread.
         *
         * @param outcomes in the order of the deliveries; none if there is no answer
         * @param failure why there is none; {@code null} if there is one
         */
        void end(List<ClaimOutcome> outcomes, @Nullable Throwable failure);
    }

    /** An observation of a handler call. */
    @FunctionalInterface
    interface HandlerScope {

        /** Has begun nothing. */
        HandlerScope NONE = () -> {};

        /** The handler's method has returned or thrown; called on its thread. */
        void leave();

        /**
         * The handler's work has ended: the future that its method returned, or the method itself. Called after {@link
         * #leave}, by any thread.
         *
         * @param failure why it failed; {@code null} if it has not
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
     * The store is about to be called for keys, perhaps before there are threads for their deliveries. Repeated calls
     * without an answer are not reported again.
     *
     * @param deliveries whose keys are claimed; at least one
     * @return observes the outcome
     */
    default ClaimScope claiming(List<Delivery> deliveries) {
        return ClaimScope.NONE;
    }

    /**
     * A handler is about to be called on this thread.
     *
     * @param deliveries that it is given, each under its claim; at least one
     * @return observes the return of its method, and the end of its work
     */
    default HandlerScope handling(List<Delivery> deliveries) {
        return HandlerScope.NONE;
    }
}
