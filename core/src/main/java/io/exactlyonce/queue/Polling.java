package io.exactlyonce.queue;

import java.time.Duration;

/**
 * How a listener polls a queue.
 *
 * @param timeout how long a poll waits at SQS for messages
 * @param most limit of polls that wait at the same time; each one occupies a connection
 */
public record Polling(Duration timeout, int most) {

    static final Polling UNKNOWN = new Polling(Duration.ZERO, 1);
}
