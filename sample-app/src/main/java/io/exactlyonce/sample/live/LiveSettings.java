package io.exactlyonce.sample.live;

import java.time.Duration;

/**
 * The settings of the lab with its page.
 *
 * @param port the page's port, or 0 for a free port
 * @param visibilityTimeout the first visibility timeout of both queues, in whole seconds
 * @param slowing the time in which the partner reaches its slowest
 */
public record LiveSettings(int port, Duration visibilityTimeout, Duration slowing) {

    /** Returns the settings of {@code --serve}. */
    public static LiveSettings standard() {
        return new LiveSettings(8847, Duration.ofSeconds(3), Duration.ofSeconds(3));
    }

    /** Returns a copy with another port. */
    public LiveSettings withPort(int newPort) {
        return new LiveSettings(newPort, visibilityTimeout, slowing);
    }
}
