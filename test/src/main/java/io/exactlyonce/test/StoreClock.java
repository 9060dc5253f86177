package io.exactlyonce.test;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/** Runs with the JVM's clock, and jumps forward when told to. */
final class StoreClock {

    private final long start = System.nanoTime();
    private final Duration atStart = Duration.between(Instant.EPOCH, Instant.now());
    private final AtomicReference<Duration> jumps = new AtomicReference<>(Duration.ZERO);

    /** Returns the time since 1970. */
    Duration now() {
        return atStart.plusNanos(System.nanoTime() - start).plus(jumps.get());
    }

    void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException(
                    "time (%s) must not be negative: leases only grow older".formatted(time));
        }
        jumps.accumulateAndGet(time, Duration::plus);
    }
}
