package io.exactlyonce.queue;

import java.time.Duration;

/**
 * A visibility timeout: how long SQS hides a received message from other consumers.
 *
 * @param length whole seconds, from 1 s to 12 h, which is SQS's ceiling
 */
public record VisibilityWindow(Duration length) {

    /**
     * The longest time for which SQS hides a message. The time is counted from the receive, even if the visibility
     * timeout is extended.
     */
    public static final Duration CEILING = Duration.ofHours(12);

    public static final Duration SHORTEST = Duration.ofSeconds(1);

    public VisibilityWindow {
        if (length.compareTo(SHORTEST) < 0 || length.compareTo(CEILING) > 0) {
            throw new IllegalArgumentException(
                    ("visibility timeout (%d s) must be from 1 s to 43,200 s; set the queue's "
                                    + "VisibilityTimeout or the listener's messageVisibilitySeconds")
                            .formatted(length.toSeconds()));
        }
        if (length.toNanosPart() != 0) {
            // SQS would drop the fraction of a second, so this JVM would compute a later end than SQS.
            throw new IllegalArgumentException("visibility timeout (%s) must be whole seconds".formatted(length));
        }
    }

    /** Returns a visibility timeout of whole seconds, from 1 to 43,200. */
    public static VisibilityWindow ofSeconds(long seconds) {
        return new VisibilityWindow(Duration.ofSeconds(seconds));
    }
}
