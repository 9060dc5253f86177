package io.exactlyonce.visibility;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock that moves when it is told to. It soon overflows, as a JVM's own may at any time. */
public final class FakeClock implements LongSupplier {

    private final AtomicLong now =
            new AtomicLong(Long.MAX_VALUE - Duration.ofSeconds(20).toNanos());

    @Override
    public long getAsLong() {
        return now.get();
    }

    public void advance(Duration duration) {
        now.addAndGet(duration.toNanos());
    }
}
