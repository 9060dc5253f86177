package io.exactlyonce.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Registers meters that share their tags.
 *
 * @param registry where they are registered
 * @param tags of all of them
 */
record Meters(MeterRegistry registry, Tags tags) {

    /** Percentiles cover this much of the past: the time over which the advice on windows is to be judged. */
    static final Duration MEMORY = Duration.ofMinutes(5);

    static Meters of(MeterRegistry registry, String listener, String queue) {
        return new Meters(registry, Tags.of("listener", listener, "queue", queue));
    }

    Counter counter(String name, String description, String... more) {
        return Counter.builder(name)
                .description(description)
                .tags(tags.and(more))
                .register(registry);
    }

    /** The supplier is kept for as long as the meter is. */
    Meter gauge(String name, @Nullable String unit, String description, Supplier<Number> value, String... more) {
        return Gauge.builder(name, value)
                .description(description)
                .baseUnit(unit)
                .tags(tags.and(more))
                .strongReference(true)
                .register(registry);
    }

    /**
     * A timer whose buckets can be added up over instances.
     *
     * @param bounds of the buckets
     * @param percentiles that the timer itself knows, of this instance
     */
    Timer timer(String name, String description, Duration[] bounds, double... percentiles) {
        return Timer.builder(name)
                .description(description)
                .serviceLevelObjectives(bounds)
                .publishPercentiles(percentiles)
                .distributionStatisticExpiry(MEMORY)
                .tags(tags)
                .register(registry);
    }

    void remove(Meter meter) {
        registry.remove(meter);
    }
}
