package io.exactlyonce.queue;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A monotonic clock that only a test moves. The time starts 20 s before an overflow, because a JVM's clock may overflow
 * at any time.
 */
public final class FakeClock implements NanoClock {

    private final AtomicLong now =
            new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(20).toNanos());

    private volatile Runnable whenRead = () -> {};

    /** Runs an action at each reading of the time. */
    public void whenRead(Runnable reading) {
        whenRead = reading;
    }

    @Override
    public long nanoTime() {
        whenRead.run();
        return now.get();
    }

    public void advance(Duration duration) {
        now.addAndGet(duration.toNanos());
    }
}
