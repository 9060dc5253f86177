package io.exactlyonce.sample.worker;

import java.util.concurrent.TimeUnit;

/** Measures how long a handler has been running. */
record Stopwatch(long startNanos) {

    static Stopwatch start() {
        return new Stopwatch(System.nanoTime());
    }

    long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }
}
