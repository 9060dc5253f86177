package io.exactlyonce.queue;

import java.time.Duration;

/**
 * A visibility timeout: how long SQS hides a received message from other consumers.
 *
 * @param length whole seconds, from 1 s to 12 h
 */
public record VisibilityWindow(Duration length) {

    /**
     * SQS hides a message for 12 h at most after its receive, even if the visibility timeout is extended again and
     * again.
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
            // SQS counts whole seconds. With a fraction, the visibility timeout would end earlier than this JVM
            // expects.
            throw new IllegalArgumentException("visibility timeout (%s) must be whole seconds".formatted(length));
        }
    }

    /** Returns a visibility timeout of whole seconds, from 1 to 43,200. */
    public static VisibilityWindow ofSeconds(long seconds) {
        return new VisibilityWindow(Duration.ofSeconds(seconds));
    }
}
