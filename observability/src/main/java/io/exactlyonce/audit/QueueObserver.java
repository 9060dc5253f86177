package io.exactlyonce.audit;

import io.exactlyonce.queue.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * Receives the numbers that are read from queues. The thread that reads all queues makes the calls, so an observer must
 * not block.
 */
@FunctionalInterface
public interface QueueObserver {

    /** SQS's quota of messages in flight per queue. */
    int IN_FLIGHT_CAP = 120_000;

    /**
     * The approximate numbers of messages in a queue, as SQS reports them over all consumers.
     *
     * @param visible messages that can be received; all numbers are {@code null} if unknown
     * @param inFlight messages that were received and are neither deleted nor visible again
     * @param delayed messages that were not visible yet
     * @param deadLetters messages in the dead-letter queue
     */
    record Levels(
            @Nullable Long visible,
            @Nullable Long inFlight,
            @Nullable Long delayed,
            @Nullable Long deadLetters) {}

    /** Called when a queue's attributes were read. */
    void observed(Subscription subscription, Levels levels);

    /** Called when a listener has stopped and its queue is no longer read. No earlier reading is reported after it. */
    default void forgotten(Subscription subscription) {}
}
