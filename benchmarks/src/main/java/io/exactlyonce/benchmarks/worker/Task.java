package io.exactlyonce.benchmarks.worker;

import org.jspecify.annotations.Nullable;

/**
 * A worker's task: either to drain a queue, or to hold its messages.
 *
 * @param drain handle all messages in the queue
 * @param hold receive all messages in the queue, and hold them
 */
public record Task(@Nullable Drain drain, @Nullable Hold hold) {

    /** Returns a task to drain. */
    public static Task of(Drain drain) {
        return new Task(drain, null);
    }

    /** Returns a task to hold. */
    public static Task of(Hold hold) {
        return new Task(null, hold);
    }
}
