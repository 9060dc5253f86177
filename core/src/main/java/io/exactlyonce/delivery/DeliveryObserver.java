package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.visibility.Subscription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Learns which listeners receive from which queues, and what happens to deliveries. Called by the threads that do the work, most
 * of which are shared: the store's, which tell of claims and completions, the SQS client's, which tell of receives and deletes, and
 * those that renew. One that blocks delays all deliveries, and costs them their visibility timeouts and leases in the end: hand what
 * takes longer than microseconds to a thread of your own. What it throws is logged and disturbs nothing.
 */
public interface DeliveryObserver {

    /** What an observer has begun with a question for keys. */
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

    /** What an observer has begun on a handler's thread. */
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

    /** A listener begins to receive from a queue, or what it goes by there has changed. */
    default void subscribed(Subscription subscription) {}

    /** A listener has stopped to receive from a queue. */
    default void unsubscribed(Subscription subscription) {}

    /** Something has happened to a delivery. */
    default void on(DeliveryEvent event) {}

    /**
     * The store is about to be asked for keys, in one call, perhaps before there are threads for their deliveries. What is asked
     * again, since there was no answer, is not told again.
     *
     * @param deliveries whose keys are asked for; at least one
     * @return is told how that ended
     */
    default ClaimScope claiming(List<Delivery> deliveries) {
        return ClaimScope.NONE;
    }

    /**
     * A handler is about to be called on this thread.
     *
     * @param deliveries that it is given, each under its claim; at least one
     * @return is told when its method has returned, and when its work has ended
     */
    default HandlerScope handling(List<Delivery> deliveries) {
        return HandlerScope.NONE;
    }
}
