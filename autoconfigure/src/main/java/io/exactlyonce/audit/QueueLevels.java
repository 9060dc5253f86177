package io.exactlyonce.audit;

import org.jspecify.annotations.Nullable;

/**
 * How many messages are in a queue, approximately, as SQS says; of all its consumers.
 *
 * @param visible waiting to be received; {@code null} where it is not known, like the others
 * @param inFlight received, and neither deleted nor visible again
 * @param delayed not yet visible for the first time
 * @param deadLetters waiting in the dead-letter queue
 */
public record QueueLevels(
        @Nullable Long visible,
        @Nullable Long inFlight,
        @Nullable Long delayed,
        @Nullable Long deadLetters) {

    /** SQS's quota on messages in flight of a queue. */
    public static final int IN_FLIGHT_CAP = 120_000;

    static QueueLevels of(QueueFacts facts) {
        return new QueueLevels(
                facts.queue().known().flatMap(QueueState::visible).orElse(null),
                facts.queue().known().flatMap(QueueState::inFlight).orElse(null),
                facts.queue().known().flatMap(QueueState::delayed).orElse(null),
                facts.deadLetters().known().flatMap(QueueState::visible).orElse(null));
    }
}
