package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Learns what happens to deliveries. Called by the threads that do the work: it must not block. What it throws is logged
 * and disturbs nothing.
 */
public interface DeliveryObserver extends RenewalObserver {

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

    /** The store answered a claim. */
    default void claimed(Subscription subscription, ClaimOutcome outcome) {}

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
