package io.exactlyonce.queue;

import java.time.Duration;

/**
 * How a listener polls a queue.
 *
 * @param timeout how long a poll waits for messages at the server
 * @param most how many polls may wait at a time; each keeps a connection
 */
public record Polling(Duration timeout, int most) {

    static final Polling UNKNOWN = new Polling(Duration.ZERO, 1);
}
