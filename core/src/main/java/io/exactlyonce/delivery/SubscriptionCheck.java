package io.exactlyonce.delivery;

import io.exactlyonce.queue.Subscription;

/** Checks a subscription before its listener receives anything. */
@FunctionalInterface
public interface SubscriptionCheck {

    /**
     * Returns normally if the listener may begin.
     *
     * @throws RuntimeException if the listener must not receive from the queue. Startup of the listener fails
     */
    void require(Subscription subscription);
}
