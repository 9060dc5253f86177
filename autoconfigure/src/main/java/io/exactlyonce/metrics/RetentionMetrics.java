package io.exactlyonce.metrics;

import io.exactlyonce.claim.RetentionObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
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
        deleted = Counter.builder(MeterNames.CLAIMS_DELETED)
                .description("Claims that this instance deleted because their retention was over")
                .register(registry);
        sweeps = Timer.builder(MeterNames.SWEEP)
                .description("Deletion of all that was expired, pauses included, by the instance that did it")
                .register(registry);
        failures = Counter.builder(MeterNames.SWEEP_FAILURES)
                .description("Sweeps that could not go on: database away, or DELETE not granted")
                .register(registry);
        Gauge.builder(MeterNames.CLAIMS_OLDEST, this, metrics -> metrics.survey.oldestSeconds())
                .description(
                        "Time since the oldest claim in the table that will expire; 0 if there is none. Every instance"
                                + " reports the same")
                .baseUnit("seconds")
                .strongReference(true)
                .register(registry);
        Gauge.builder(MeterNames.CLAIMS_PARKED, this, metrics -> metrics.survey.parked())
                .description(
                        "Claims that wait for a person's decision. Every instance reports the same: take the maximum, not"
                                + " the sum")
                .strongReference(true)
                .register(registry);
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
