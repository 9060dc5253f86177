package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;

/** Learns what is read of queues. Called by the SQS client's threads: it must not block. */
@FunctionalInterface
public interface QueueObserver {

    /** A queue's attributes were read. */
    void observed(Subscription subscription, QueueLevels levels);

    /** A listener has stopped, and its queue is read no more; nothing that was read before is told after this. */
    default void forgotten(Subscription subscription) {}
}
