package io.exactlyonce.claim.postgres.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Leases as PostgreSQL counts them: in microseconds. */
public final class LeaseMicros {

    private LeaseMicros() {}

    public static long of(Duration lease) {
        return TimeUnit.MICROSECONDS.convert(lease);
    }
}
