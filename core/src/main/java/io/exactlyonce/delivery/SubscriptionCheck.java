package io.exactlyonce.delivery;

import io.exactlyonce.queue.Subscription;

/** Checks a subscription before its listener receives anything. */
@FunctionalInterface
public interface SubscriptionCheck {

    /**
     * Checks whether the listener may receive from its queue.
     *
     * @throws RuntimeException if the listener must not receive. Startup of the listener then fails
     */
    void require(Subscription subscription);
}
