package io.exactlyonce.dynamodb.testing;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A monotonic clock that only a test moves. The clock soon overflows, as a JVM's own may at any time. */
public final class FakeClock implements NanoClock {

    private final AtomicLong now =
            new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(20).toNanos());

    @Override
    public long nanoTime() {
        return now.get();
    }

    /** Lets time pass. */
    public void advance(Duration time) {
        now.addAndGet(time.toNanos());
    }
}
