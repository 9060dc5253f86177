package io.exactlyonce.visibility;

/**
 * A listener on one of its queues: the key of all that is counted, measured or shown per listener and queue.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 */
public record ListenerQueue(String listener, String queue) {

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
