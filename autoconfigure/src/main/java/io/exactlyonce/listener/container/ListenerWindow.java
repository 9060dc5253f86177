package io.exactlyonce.listener.container;

import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The window of the messages that a listener receives: its own, or else its queue's. */
final class ListenerWindow {

    private ListenerWindow() {}

    /**
     * Returns the window.
     *
     * @param queues the queue's {@code VisibilityTimeout}, if it tells one
     * @throws InvalidListenerException if it is not known, or SQS has no such window
     */
    static VisibilityWindow of(
            @Nullable Duration configured, @Nullable String queues, String listener, String queueName) {
        try {
            // Awspring asks SQS for whole seconds, and drops the rest.
            return VisibilityWindow.ofSeconds(configured == null ? tell(queues) : configured.toSeconds());
        } catch (IllegalArgumentException invalid) {
            throw new InvalidListenerException(
                    "Listener '%s' on queue '%s': %s".formatted(listener, queueName, invalid.getMessage()),
                    "choose a window that covers most handlers, for example twice their median time");
        }
    }

    private static long tell(@Nullable String seconds) {
        if (seconds == null) {
            throw new IllegalArgumentException(
                    "the queue does not tell its VisibilityTimeout; set the listener's messageVisibilitySeconds");
        }
        return Long.parseLong(seconds);
    }
}
