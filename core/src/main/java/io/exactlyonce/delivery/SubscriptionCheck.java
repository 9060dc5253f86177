package io.exactlyonce.delivery;

import io.exactlyonce.queue.Subscription;

/** Checks a subscription before its listener receives anything. */
@FunctionalInterface
public interface SubscriptionCheck {

    /**
     * Returns if the listener may begin.
     *
     * @throws RuntimeException if the listener must not receive from the queue; the listener fails startup
     */
    void require(Subscription subscription);
}
