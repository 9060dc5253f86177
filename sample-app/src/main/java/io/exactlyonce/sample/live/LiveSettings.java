package io.exactlyonce.sample.live;

import java.time.Duration;

/**
 * How the lab runs with its page.
 *
 * @param port of the page, or 0 for any that is free
 * @param window visibility timeout of both queues to begin with, whole seconds
 * @param slowing how long the partner takes to become as slow as it gets
 */
public record LiveSettings(int port, Duration window, Duration slowing) {

    /** Returns the settings of {@code --serve}. */
    public static LiveSettings standard() {
        return new LiveSettings(8847, Duration.ofSeconds(3), Duration.ofSeconds(3));
    }

    /** Returns a copy with another port. */
    public LiveSettings withPort(int newPort) {
        return new LiveSettings(newPort, window, slowing);
    }
}
