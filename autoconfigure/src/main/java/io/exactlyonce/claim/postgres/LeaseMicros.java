package io.exactlyonce.claim.postgres;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Leases as PostgreSQL counts them: in microseconds. */
final class LeaseMicros {

    private LeaseMicros() {}

    static long of(Duration lease) {
        return TimeUnit.MICROSECONDS.convert(lease);
    }
}
