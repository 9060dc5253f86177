package io.exactlyonce.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ResourceBundle;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Registers meters that have the same tags. Their descriptions are in {@code meters.properties}. */
class Meters {

    /** Maxima and quantiles are those of the last five minutes. */
    static final Duration MEMORY = Duration.ofMinutes(5);

    private static final ResourceBundle TEXTS = ResourceBundle.getBundle("io.exactlyonce.metrics.meters");

    private final MeterRegistry registry;
    private final Tags tags;

    Meters(MeterRegistry registry, String... tags) {
        this(registry, Tags.of(tags));
    }

    private Meters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
    }

    final Counter counter(String name, String... more) {
        return Counter.builder(name)
                .description(TEXTS.getString(name))
                .tags(tags.and(more))
                .register(registry);
    }

    /** Registers a counter for each value of the tag. */
    final <T> Map<T, Counter> counters(
            String name, String tag, List<T> values, Function<T, String> named, String... more) {
        Meters each = new Meters(registry, tags.and(more));
        return values.stream()
                .collect(Collectors.toMap(value -> value, value -> each.counter(name, tag, named.apply(value))));
    }

    static <T> void increment(Map<T, Counter> counters, T value) {
        Objects.requireNonNull(counters.get(value)).increment();
    }

    /** Registers a gauge. The registry keeps {@code value} from being garbage-collected. */
    final void gauge(String name, @Nullable String unit, Supplier<Number> value, String... more) {
        Gauge.builder(name, value)
                .description(TEXTS.getString(name))
                .baseUnit(unit)
                .tags(tags.and(more))
                .strongReference(true)
                .register(registry);
    }

    /**
     * Registers a group for gauges that have the same name and different tags. Gauges can later be added to the group,
     * and removed.
     */
    final MultiGauge gauges(String name, @Nullable String unit) {
        return MultiGauge.builder(name)
                .description(TEXTS.getString(name))
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    /** Registers a timer with histogram buckets. Unlike quantiles, buckets of several instances can be added up. */
    final Timer timer(String name, Duration... bounds) {
        return Timer.builder(name)
                .description(TEXTS.getString(name))
                .serviceLevelObjectives(bounds)
                .distributionStatisticExpiry(MEMORY)
                .tags(tags)
                .register(registry);
    }

    /** Returns the time of the registry's monotonic clock. */
    final long nanoTime() {
        return registry.config().clock().monotonicTime();
    }
}
