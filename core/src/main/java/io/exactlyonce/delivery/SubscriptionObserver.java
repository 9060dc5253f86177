package io.exactlyonce.delivery;

import io.exactlyonce.visibility.Subscription;

/** Learns which listeners receive from which queues. What it throws is logged and disturbs nothing. */
public interface SubscriptionObserver {

    /** A listener begins to receive from a queue, or what it goes by there has changed. */
    default void subscribed(Subscription subscription) {}

    /** A listener has stopped to receive from a queue. */
    default void unsubscribed(Subscription subscription) {}
}
