package io.exactlyonce.visibility;

/**
 * A listener's subscription to one queue.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 * @param window the visibility window of the messages that the listener receives from the queue
 * @param visibility changes the visibility of the queue's messages
 */
public record Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
