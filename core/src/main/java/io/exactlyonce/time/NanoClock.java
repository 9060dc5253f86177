package io.exactlyonce.time;

/**
 * A monotonic clock, in nanoseconds. Its origin is arbitrary, so only differences have a meaning. Changes of the time
 * of day do not affect it.
 */
@FunctionalInterface
public interface NanoClock {

    /** Returns now, as {@link System#nanoTime()} does. */
    long nanoTime();
}
