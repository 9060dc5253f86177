package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.sighting.ObservedQueue;
import io.exactlyonce.sighting.Sighting;
import io.exactlyonce.sighting.SightingObserver;
import io.exactlyonce.sighting.Unobserved;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Counts what is seen of listeners that are only observed. */
public final class SightingMetrics implements SightingObserver {

    private final MeterRegistry registry;
    private final Map<ObservedQueue, Counters> counters = new ConcurrentHashMap<>();

    private record Counters(Map<Sighting, Counter> sighted, Map<Unobserved, Counter> unobserved) {}

    /** @param registry where the meters are registered */
    public SightingMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void observing(ObservedQueue queue) {
        of(queue);
    }

    @Override
    public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
        increment(of(queue).sighted().get(sighting));
    }

    @Override
    public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
        increment(of(queue).unobserved().get(reason));
    }

    private static void increment(@Nullable Counter counter) {
        if (counter != null) {
            counter.increment();
        }
    }

    private Counters of(ObservedQueue queue) {
        return counters.computeIfAbsent(queue, this::register);
    }

    private Counters register(ObservedQueue queue) {
        Meters meters =
                new Meters(registry, Tags.of(MeterNames.LISTENER, queue.listener(), MeterNames.QUEUE, queue.queue()));
        Map<Sighting, Counter> sighted = new EnumMap<>(Sighting.class);
        for (Sighting sighting : Sighting.values()) {
            sighted.put(
                    sighting,
                    meters.counter(
                            MeterNames.OBSERVED,
                            "With mode=observe: handlers, by what their claims have met. Enforcing would have prevented "
                                    + "duplicate (the key was completed) and overlap (another handler of the key was running; "
                                    + "also counted, beside its first outcome, for one whose key was taken over while it ran), and "
                                    + "refused mismatch and parked; takeover (an earlier handler vanished) it would have told. "
                                    + "alone met nothing",
                            MeterNames.OUTCOME,
                            sighting.tag()));
        }
        Map<Unobserved, Counter> unobserved = new EnumMap<>(Unobserved.class);
        for (Unobserved reason : Unobserved.values()) {
            unobserved.put(
                    reason,
                    meters.counter(
                            MeterNames.UNOBSERVED,
                            "With mode=observe: handlers of which nothing is known: key (no usable one), message (its "
                                    + "headers were replaced), store (no answer), overload (too many observations under way); "
                                    + "and outcome (how the handler ended is not on record)",
                            MeterNames.REASON,
                            reason.tag()));
        }
        return new Counters(sighted, unobserved);
    }
}
