package io.exactlyonce.observed;

/**
 * An observed listener, on one of its queues.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 */
public record ObservedQueue(String listener, String queue) {

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
