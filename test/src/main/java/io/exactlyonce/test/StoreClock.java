package io.exactlyonce.test;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/** A clock that follows another clock, and that can be set forward. */
final class StoreClock {

    private final NanoClock clock;
    private final long start;
    private final Duration atStart = Duration.between(Instant.EPOCH, Instant.now());
    private final AtomicReference<Duration> jumps = new AtomicReference<>(Duration.ZERO);

    StoreClock(NanoClock clock) {
        this.clock = clock;
        this.start = clock.nanoTime();
    }

    /** Returns the time since the beginning of 1970. */
    Duration now() {
        return atStart.plusNanos(clock.nanoTime() - start).plus(jumps.get());
    }

    void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException(
                    "time (%s) must not be negative, because the store's clock only moves forward".formatted(time));
        }
        jumps.accumulateAndGet(time, Duration::plus);
    }
}
