package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;

/** Learns what is read of queues. */
@FunctionalInterface
public interface QueueObserver {

    /** A queue's attributes were read. */
    void observed(Subscription subscription, QueueLevels levels);
}
