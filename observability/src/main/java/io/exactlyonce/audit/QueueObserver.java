package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;
import org.jspecify.annotations.Nullable;

/** Learns what is read of queues. Called by the thread that reads them all: it must not block. */
@FunctionalInterface
public interface QueueObserver {

    /** SQS's quota on messages in flight of a queue. */
    int IN_FLIGHT_CAP = 120_000;

    /**
     * How many messages are in a queue, approximately, as SQS says; of all its consumers.
     *
     * @param visible waiting to be received; {@code null} where it is not known, like the others
     * @param inFlight received, and neither deleted nor visible again
     * @param delayed not yet visible for the first time
     * @param deadLetters waiting in the dead-letter queue
     */
    record Levels(
            @Nullable Long visible,
            @Nullable Long inFlight,
            @Nullable Long delayed,
            @Nullable Long deadLetters) {}

    /** A queue's attributes were read. */
    void observed(Subscription subscription, Levels levels);

    /** A listener has stopped, and its queue is read no more; nothing that was read before is told after this. */
    default void forgotten(Subscription subscription) {}
}
