package io.exactlyonce.time;

/**
 * A monotonic clock, in nanoseconds. The origin is arbitrary, so only the difference between two values has a meaning.
 * Changes of the machine's time of day do not affect the clock.
 */
@FunctionalInterface
public interface NanoClock {

    /** Returns the present value, as {@link System#nanoTime()} does. */
    long nanoTime();
}
