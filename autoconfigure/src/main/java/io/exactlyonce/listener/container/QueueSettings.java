package io.exactlyonce.listener.container;

import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a queue's attributes mean for a listener: the window of its messages, and after how many receives they are moved to
 * the dead-letter queue.
 */
final class QueueSettings {

    /** SQS gives the redrive policy as JSON, with its number quoted or not. */
    private static final Pattern MAX_RECEIVE_COUNT = Pattern.compile("\"maxReceiveCount\"\\s*:\\s*\"?(\\d{1,9})");

    private QueueSettings() {}

    /**
     * Returns the window of the messages that a listener receives: its own, or else its queue's.
     *
     * @param queues the queue's {@code VisibilityTimeout}, if it is known
     * @throws InvalidListenerException if it is not known, or SQS has no such window
     */
    static VisibilityWindow window(
            @Nullable Duration configured, @Nullable String queues, String listener, String queueName) {
        try {
            // Awspring asks SQS for whole seconds, and drops the rest.
            return VisibilityWindow.ofSeconds(configured == null ? seconds(queues) : configured.toSeconds());
        } catch (IllegalArgumentException invalid) {
            throw new InvalidListenerException(
                    "Listener '%s' on queue '%s': %s".formatted(listener, queueName, invalid.getMessage()),
                    "choose a window that covers most handlers, for example twice their median time");
        }
    }

    private static long seconds(@Nullable String visibilityTimeout) {
        if (visibilityTimeout == null) {
            throw new IllegalArgumentException(
                    "the queue has no known VisibilityTimeout; set the listener's messageVisibilitySeconds");
        }
        return Long.parseLong(visibilityTimeout);
    }

    /** Returns after how many receives a message is moved to the dead-letter queue, or {@code null} if there is none. */
    static @Nullable Integer maxReceiveCount(@Nullable String policy) {
        if (policy == null) {
            return null;
        }
        Matcher matcher = MAX_RECEIVE_COUNT.matcher(policy);
        return matcher.find() ? Integer.valueOf(matcher.group(1)) : null;
    }
}
