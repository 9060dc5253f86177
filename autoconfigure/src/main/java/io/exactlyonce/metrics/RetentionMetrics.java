package io.exactlyonce.metrics;

import io.exactlyonce.claim.RetentionObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Measures the table of claims, and the deletion of expired ones. */
public final class RetentionMetrics implements RetentionObserver {

    private final Counter deleted;
    private final Timer sweeps;
    private final Counter failures;
    private volatile Survey survey = new Survey(Double.NaN, Double.NaN);

    private record Survey(double oldestSeconds, double parked) {}

    /** @param registry where the meters are registered */
    public RetentionMetrics(MeterRegistry registry) {
        Meters meters = new Meters(registry, Tags.empty());
        deleted = meters.counter(
                "exactly.once.claims.deleted", "Claims that this instance deleted because their retention was over");
        sweeps = Timer.builder("exactly.once.sweep")
                .description("Deletion of all that was expired, pauses included, by the instance that did it")
                .register(registry);
        failures = meters.counter(
                "exactly.once.sweep.failures", "Sweeps that could not go on: database away, or DELETE not granted");
        meters.gauge(
                "exactly.once.claims.oldest",
                "seconds",
                "Time since the oldest claim in the table that will expire; 0 if there is none. Every instance reports"
                        + " the same",
                () -> survey.oldestSeconds());
        meters.gauge(
                "exactly.once.claims.parked",
                null,
                "Claims that wait for a person's decision. Every instance reports the same: take the maximum, not the"
                        + " sum",
                () -> survey.parked());
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
    public void surveyed(@Nullable Duration oldest, long parked) {
        double seconds = oldest == null ? 0 : oldest.toNanos() / (double) TimeUnit.SECONDS.toNanos(1);
        survey = new Survey(seconds, parked);
    }
}
