package io.exactlyonce.metrics;

import io.exactlyonce.claim.postgres.RetentionObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Meters of the background task that deletes expired claims. Also shows the age of the oldest claim. */
public final class RetentionMetrics implements RetentionObserver {

    private final Counter deleted;
    private final Timer sweeps;
    private final Counter failures;
    private volatile double oldestSeconds = Double.NaN;

    /** @param registry registers the meters */
    public RetentionMetrics(MeterRegistry registry) {
        Meters meters = new Meters(registry);
        deleted = meters.counter("exactly.once.claims.deleted");
        sweeps = meters.timer("exactly.once.sweep");
        failures = meters.counter("exactly.once.sweep.failures");
        meters.gauge("exactly.once.claims.oldest", "seconds", () -> oldestSeconds);
    }

    @Override
    public void deleted(int claims) {
        deleted.increment(claims);
    }

    @Override
    public void swept(Duration elapsed) {
        sweeps.record(elapsed);
    }

    @Override
    public void sweepFailed() {
        failures.increment();
    }

    @Override
    public void surveyed(@Nullable Duration oldest) {
        oldestSeconds = oldest == null ? 0 : oldest.toNanos() / (double) TimeUnit.SECONDS.toNanos(1);
    }
}
