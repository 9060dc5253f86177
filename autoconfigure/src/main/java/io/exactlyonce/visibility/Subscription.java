package io.exactlyonce.visibility;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A listener's subscription to one queue, from one start of the listener until its stop, with what was read of the queue at
 * a time. Two of them are equal if they are of one start, whatever was read: window and redrive policy may change meanwhile,
 * and each delivery keeps to those that it was received by.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 * @param window the visibility window of the messages that the listener receives from the queue
 * @param timeout the longest run of the listener's handler; {@code null} for none but SQS's ceiling
 * @param visibility changes the visibility of the queue's messages; each start has another one
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

    private static final String FIFO = ".fifo";

    /** A subscription whose handlers have no timeout, and whose queue has no dead-letter queue. */
    public Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {
        this(listener, queue, window, null, visibility, null);
    }

    /** Returns the same subscription with what has been read of the queue since. */
    public Subscription revised(VisibilityWindow window, @Nullable Integer maxReceiveCount) {
        return new Subscription(listener, queue, window, timeout, visibility, maxReceiveCount);
    }

    /** Returns whether the queue keeps the order of its groups, which its name tells. */
    public boolean isFifo() {
        return queue.endsWith(FIFO);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Subscription subscription
                && listener.equals(subscription.listener)
                && queue.equals(subscription.queue)
                && visibility.equals(subscription.visibility);
    }

    @Override
    public int hashCode() {
        return Objects.hash(listener, queue, visibility);
    }

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
