package io.exactlyonce.queue;

import java.util.Comparator;

/**
 * Names a listener and one of its queues. Metrics and reports are kept for each such pair.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 */
public record ListenerQueue(String listener, String queue) implements Comparable<ListenerQueue> {

    private static final Comparator<ListenerQueue> ORDER =
            Comparator.comparing(ListenerQueue::listener).thenComparing(ListenerQueue::queue);

    @Override
    public int compareTo(ListenerQueue other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
