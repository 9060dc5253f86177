package io.exactlyonce.audit;

import io.exactlyonce.queue.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * Receives the numbers that audits read from queues. The threads of the audits call the observer, so an observer must
 * not block.
 */
@FunctionalInterface
public interface QueueObserver {

    /** SQS's quota of messages in flight per queue. */
    int IN_FLIGHT_CAP = 120_000;

    /**
     * The approximate numbers of messages in a queue, as SQS reports them over all consumers. A number is {@code null}
     * if it is unknown.
     *
     * @param visible messages that can be received
     * @param inFlight messages that were received and are neither deleted nor visible again
     * @param delayed messages whose delay has not ended, so that they were never visible
     * @param deadLetters messages in the dead-letter queue
     */
    record Levels(
            @Nullable Long visible,
            @Nullable Long inFlight,
            @Nullable Long delayed,
            @Nullable Long deadLetters) {}

    /** Called when a queue's attributes were read. */
    void observed(Subscription subscription, Levels levels);

    /** Called when a listener has stopped. After this call, no numbers of its queue are reported. */
    default void forgotten(Subscription subscription) {}
}
