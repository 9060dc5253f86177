package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that the rules judge of one listener on one queue.
 *
 * @param subscription with the window that the listener receives by
 * @param queue the queue's attributes
 * @param deadLetters those of its dead-letter queue; not known, too, if there is none
 * @param mayRenew whether SQS lets the listener change the visibility of messages
 * @param polls how many queues the listener's client polls
 * @param connections most that this client has at a time; {@code null} if that is not known
 * @param p99 of the listener's deliveries; {@code null} if too few have been measured
 */
public record QueueFacts(
        Subscription subscription,
        Fact<QueueState> queue,
        Fact<QueueState> deadLetters,
        Fact<Boolean> mayRenew,
        int polls,
        @Nullable Integer connections,
        @Nullable Duration p99) {

    /** Returns the redrive policy; empty if there is none, or it is not known. */
    Optional<QueueState.Redrive> redrive() {
        return queue.known().flatMap(QueueState::redrive);
    }

    Fact<Duration> retention() {
        return retentionOf(queue);
    }

    Fact<Duration> deadLetterRetention() {
        return retentionOf(deadLetters);
    }

    private static Fact<Duration> retentionOf(Fact<QueueState> queue) {
        return queue.known().map(QueueState::retention).orElseGet(() -> Fact.unknown(queue.why()));
    }
}
