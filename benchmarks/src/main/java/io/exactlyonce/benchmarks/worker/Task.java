package io.exactlyonce.benchmarks.worker;

import org.jspecify.annotations.Nullable;

/**
 * What a worker is asked to do: one of these.
 *
 * @param drain handle what is in the queue
 * @param hold take what is in the queue, and hold it
 */
public record Task(@Nullable Drain drain, @Nullable Hold hold) {

    /** Asks to drain. */
    public static Task of(Drain drain) {
        return new Task(drain, null);
    }

    /** Asks to hold. */
    public static Task of(Hold hold) {
        return new Task(null, hold);
    }
}
