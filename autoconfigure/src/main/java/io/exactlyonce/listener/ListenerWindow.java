package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** The window of the messages that a listener receives: its own, or else its queue's. */
final class ListenerWindow {

    private ListenerWindow() {}

    /** @throws InvalidListenerException if it is not known, or SQS has no such window */
    static VisibilityWindow of(
            @Nullable Duration configured, QueueAttributes queue, String listener, String queueName) {
        try {
            // Awspring asks SQS for whole seconds, and drops the rest.
            return VisibilityWindow.ofSeconds(configured == null ? tell(queue) : configured.toSeconds());
        } catch (IllegalArgumentException invalid) {
            throw new InvalidListenerException(
                    "Listener '%s' on queue '%s': %s".formatted(listener, queueName, invalid.getMessage()),
                    "choose a window that covers most handlers, for example twice their median time");
        }
    }

    private static long tell(QueueAttributes queue) {
        String seconds = queue.getQueueAttribute(QueueAttributeName.VISIBILITY_TIMEOUT);
        if (seconds == null) {
            throw new IllegalArgumentException(
                    "the queue does not tell its VisibilityTimeout; set the listener's messageVisibilitySeconds");
        }
        return Long.parseLong(seconds);
    }
}
