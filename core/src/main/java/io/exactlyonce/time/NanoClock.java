package io.exactlyonce.time;

/**
 * A monotonic clock, in nanoseconds: only the difference between two values has a meaning. If the machine's time of day
 * is changed, the clock does not notice.
 */
@FunctionalInterface
public interface NanoClock {

    /** Returns the present value, as {@link System#nanoTime()} does. */
    long nanoTime();
}
