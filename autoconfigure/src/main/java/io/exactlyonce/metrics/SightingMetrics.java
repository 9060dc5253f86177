package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.sighting.ObservedQueue;
import io.exactlyonce.sighting.Sighting;
import io.exactlyonce.sighting.SightingObserver;
import io.exactlyonce.sighting.Unobserved;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Counts what is seen of listeners that are only observed. */
public final class SightingMetrics implements SightingObserver {

    private final MeterRegistry registry;
    private final Map<ObservedQueue, Map<Enum<?>, Counter>> counters = new ConcurrentHashMap<>();

    /** @param registry where the meters are registered */
    public SightingMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void observing(ObservedQueue queue) {
        counters.computeIfAbsent(queue, this::register);
    }

    @Override
    public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
        increment(queue, sighting);
    }

    @Override
    public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
        increment(queue, reason);
    }

    private void increment(ObservedQueue queue, Enum<?> seen) {
        Objects.requireNonNull(counters.computeIfAbsent(queue, this::register).get(seen))
                .increment();
    }

    private Map<Enum<?>, Counter> register(ObservedQueue queue) {
        Meters meters = Meters.of(registry, queue.listener(), queue.queue());
        Map<Enum<?>, Counter> all = new HashMap<>();
        for (Sighting sighting : Sighting.values()) {
            all.put(
                    sighting,
                    meters.counter(
                            "exactly.once.observed",
                            "With mode=observe: handlers, by what their claims have met. Enforcing would have prevented "
                                    + "duplicate (the key was completed) and overlap (another handler of the key was running; "
                                    + "also counted, beside its first outcome, for one whose key was taken over while it ran), and "
                                    + "refused mismatch and parked; takeover (an earlier handler vanished) it would have told. "
                                    + "alone met nothing",
                            "outcome",
                            sighting.tag()));
        }
        for (Unobserved reason : Unobserved.values()) {
            all.put(
                    reason,
                    meters.counter(
                            "exactly.once.unobserved",
                            "With mode=observe: handlers of which nothing is known: key (no usable one), message (its "
                                    + "headers were replaced), store (no answer), overload (too many observations under way); "
                                    + "and outcome (how the handler ended is not on record)",
                            "reason",
                            reason.tag()));
        }
        return all;
    }
}
