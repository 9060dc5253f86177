package io.exactlyonce.visibility;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A listener's subscription to one queue.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 * @param window the visibility window of the messages that the listener receives from the queue
 * @param timeout the longest run of the listener's handler; {@code null} for none but SQS's ceiling
 * @param visibility changes the visibility of the queue's messages
 * @param maxReceiveCount after how many receives SQS moves a message to the dead-letter queue; {@code null} if the queue
 *     has none
 */
public record Subscription(
        String listener,
        String queue,
        VisibilityWindow window,
        @Nullable Duration timeout,
        QueueVisibility visibility,
        @Nullable Integer maxReceiveCount) {

    /** A subscription whose handlers have no timeout, and whose queue has no dead-letter queue. */
    public Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {
        this(listener, queue, window, null, visibility, null);
    }

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
