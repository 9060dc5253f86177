package io.exactlyonce.dynamodb.testing;

import io.exactlyonce.dynamodb.clock.ServiceClock;
import java.time.Duration;

/** A service whose time follows a fake clock, and whose answers are dated in whole seconds. */
public final class FakeService {

    private final FakeClock clock;
    private final ServiceClock measured;
    private final long origin;
    private long startMillis = 1_800_000_000_250L;

    public FakeService(FakeClock clock, ServiceClock measured) {
        this.clock = clock;
        this.measured = measured;
        this.origin = clock.nanoTime();
    }

    /** Returns the service's time in microseconds since 1970. */
    public long micros() {
        return startMillis * 1000 + (clock.nanoTime() - origin) / 1000;
    }

    /** Lets the service answer after this delay. Half of the delay is before the execution, and half after it. */
    public void answer(Duration after) {
        long sent = clock.nanoTime();
        clock.advance(after.dividedBy(2));
        long date = Math.floorDiv(micros(), 1_000_000) * 1000;
        clock.advance(after.dividedBy(2));
        measured.answered(sent, clock.nanoTime(), date);
    }

    /** Sets the service's clock, or switches to another front end with another clock. */
    public void shift(Duration by) {
        startMillis += by.toMillis();
    }
}
