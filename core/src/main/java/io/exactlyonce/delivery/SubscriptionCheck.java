package io.exactlyonce.delivery;

import io.exactlyonce.queue.Subscription;

/** Checks a subscription before its listener receives anything. */
@FunctionalInterface
public interface SubscriptionCheck {

    /**
     * Returns normally if the listener may receive from its queue.
     *
     * @throws RuntimeException if it must not. Startup of the listener then fails
     */
    void require(Subscription subscription);
}
