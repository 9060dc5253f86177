package io.exactlyonce.audit;

import io.exactlyonce.queue.Subscription;
import org.jspecify.annotations.Nullable;

/** Receives the numbers that are read from queues. Called by the thread that reads all queues: it must not block. */
@FunctionalInterface
public interface QueueObserver {

    /** SQS's quota on messages in flight of a queue. */
    int IN_FLIGHT_CAP = 120_000;

    /**
     * The approximate numbers of messages in a queue, as SQS reports them over all consumers.
     *
     * @param visible waiting to be received; like the others, {@code null} if unknown
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

    /** Called when a listener has stopped and its queue is no longer read. No earlier reading is reported after it. */
    default void forgotten(Subscription subscription) {}
}
