package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;

/**
 * Learns what happens to deliveries. Called by the threads that do the work: it must not block. What it throws is logged
 * and disturbs nothing.
 */
public interface DeliveryObserver extends RenewalObserver {

    /** A listener begins to receive from a queue. */
    default void subscribed(Subscription subscription) {}

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
