package io.exactlyonce.audit;

import io.exactlyonce.queue.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * Receives the numbers of messages in queues after each audit. Called on the audit's threads, so an observer must not
 * block.
 */
@FunctionalInterface
public interface QueueObserver {

    /** SQS's quota of messages in flight per queue. */
    int IN_FLIGHT_CAP = 120_000;

    /**
     * The approximate numbers of messages in a queue. SQS counts the messages of all instances and consumers. A number
     * is {@code null} if SQS did not report it.
     *
     * @param visible messages that can be received
     * @param inFlight messages that were received, and are neither deleted nor visible again
     * @param delayed messages that were sent with a delay, and cannot be received yet
     * @param deadLetters messages that can be received from the dead-letter queue
     */
    record Levels(
            @Nullable Long visible,
            @Nullable Long inFlight,
            @Nullable Long delayed,
            @Nullable Long deadLetters) {}

    /** Called when a queue's attributes were read. */
    void observed(Subscription subscription, Levels levels);

    /** Called when a listener has stopped. No more numbers of its queue follow. */
    default void forgotten(Subscription subscription) {}
}
