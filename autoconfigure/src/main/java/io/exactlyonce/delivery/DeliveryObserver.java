package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Learns what happens to deliveries. Called by the threads that do the work, most of which are shared: the store's, which tell of
 * claims and completions, the SQS client's, which tell of receives and deletes, and those that renew. One that blocks delays
 * all deliveries, and costs them their windows and leases in the end: hand what takes longer than microseconds to a thread of
 * your own. What it throws is logged and disturbs nothing.
 */
public interface DeliveryObserver extends RenewalObserver {

    /** A delivery whose key the store is about to be asked for. */
    record ClaimCall(Delivery delivery, ClaimKey key) {}

    /** What an observer has begun with a question for keys. */
    @FunctionalInterface
    interface ClaimScope {

        /** Has begun nothing. */
        ClaimScope NONE = (outcomes, failure) -> {};

        /**
         * There is an answer, or there will be none. Called once, by any thread.
         *
         * @param outcomes in the order of the calls; none if there is no answer
         * @param failure why there is none; {@code null} if there is one
         */
        void end(List<ClaimOutcome> outcomes, @Nullable Throwable failure);
    }

    /**
     * A delivery that a handler is about to be called with, under its claim.
     *
     * @param attempt the number of this attempt at the key, from 1
     */
    record HandlerCall(Delivery delivery, ClaimId claim, int attempt) {}

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

    /** A handler succeeded, but another worker had taken its key over before that could be recorded. */
    default void completionLost(Subscription subscription) {}

    /**
     * The number of deliveries of a subscription has changed whose handlers have ended, and whose outcome is not on record yet.
     */
    default void completing(Subscription subscription, int deliveries) {}

    /** A listener begins to receive from a queue, or what it goes by there has changed. */
    default void subscribed(Subscription subscription) {}

    /** A listener has stopped to receive from a queue. */
    default void unsubscribed(Subscription subscription) {}

    /**
     * A message was received.
     *
     * @param receiveCount how often SQS has delivered it, from 1
     * @param age since it was sent, both by the queue's clock, to the second; {@code null} if the queue did not say
     */
    default void received(Subscription subscription, int receiveCount, @Nullable Duration age) {}

    /**
     * The number of deliveries in flight has changed: received, and neither deleted nor returned nor abandoned yet.
     *
     * @param change how many more, or fewer if it is negative
     */
    default void inFlight(Subscription subscription, int change) {}

    /**
     * The store is about to be asked for keys, in one call, perhaps before there are threads for their deliveries. What is asked
     * again, since there was no answer, is told again.
     *
     * @param calls at least one
     * @return is told how that ended
     */
    default ClaimScope claiming(List<ClaimCall> calls) {
        return ClaimScope.NONE;
    }

    /** The store answered a claim. */
    default void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {}

    /** A key is parked from now on: its handler failed for good, or its reconciler has left it to a person. */
    default void parked(Subscription subscription, ClaimKey key) {}

    /**
     * A handler is about to be called on this thread.
     *
     * @param calls the deliveries that it is given; at least one
     * @return is told when its method has returned, and when its work has ended
     */
    default HandlerScope handling(List<HandlerCall> calls) {
        return HandlerScope.NONE;
    }

    /** A handler ended, well or not; {@code elapsed} is its own time. */
    default void handled(Subscription subscription, Duration elapsed) {}

    /**
     * A delivery whose handler was called came to its end; {@code elapsed} runs from its receive until its delete was
     * confirmed, or until it was abandoned: the time that counts against the visibility window. Deliveries that were
     * returned are left out.
     */
    default void delivered(Subscription subscription, Duration elapsed) {}

    /**
     * A delivery has left its listener, and it is decided what becomes of it.
     *
     * @param state {@code DELETING}, {@code WAITING}, {@code RETURNED} or {@code ABANDONED}
     */
    default void settled(Delivery delivery, DeliveryState state) {}

    /** The queue has confirmed the delete of a delivery's message. */
    default void acknowledged(Delivery delivery) {}

    /** The number of deliveries of a subscription that wait for a key's holder, or for the claim store, has changed. */
    default void waiting(Subscription subscription, int deliveries) {}

    /** A delivery that was not tried has one receive left, or none, before the dead-letter queue. */
    default void receivesRunOut(Subscription subscription) {}

    /**
     * A subscription polls no more since claims get no answer on its way, or polls again.
     *
     * @param way on which its claims are made: {@code claims}, or the name of a transaction manager
     */
    default void pollingPaused(Subscription subscription, String way, boolean paused) {}
}
