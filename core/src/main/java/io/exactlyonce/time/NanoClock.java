package io.exactlyonce.time;

/** A monotonic clock, in nanoseconds from any moment: only differences mean something, and no time of day moves it. */
@FunctionalInterface
public interface NanoClock {

    /** Returns now, as {@link System#nanoTime()} does. */
    long nanoTime();
}
