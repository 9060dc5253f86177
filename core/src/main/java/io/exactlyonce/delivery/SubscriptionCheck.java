package io.exactlyonce.delivery;

import io.exactlyonce.visibility.Subscription;

/** Is asked before a listener receives anything. */
@FunctionalInterface
public interface SubscriptionCheck {

    /**
     * Returns if the listener may begin.
     *
     * @throws RuntimeException if the queue is not to be received from: the listener, and so the application, does not start
     */
    void require(Subscription subscription);
}
