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
 */
public record Subscription(
        String listener,
        String queue,
        VisibilityWindow window,
        @Nullable Duration timeout,
        QueueVisibility visibility) {

    /** A subscription whose handlers have no timeout. */
    public Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {
        this(listener, queue, window, null, visibility);
    }

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
