package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.observed.NotObserved;
import io.exactlyonce.observed.ObservationCounter;
import io.exactlyonce.observed.ObservedOutcome;
import io.exactlyonce.queue.ListenerQueue;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts the deliveries of listeners in observe mode. There is a counter for each outcome, and one for each reason why
 * a delivery could not be observed.
 */
public final class ObservedMetrics implements ObservationCounter {

    private final MeterRegistry registry;
    private final Map<ListenerQueue, Map<Enum<?>, Counter>> counters = new ConcurrentHashMap<>();

    /** @param registry registers the meters */
    public ObservedMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void observing(ListenerQueue queue) {
        of(queue);
    }

    @Override
    public void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {
        Meters.increment(of(queue), outcome);
    }

    @Override
    public void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {
        Meters.increment(of(queue), reason);
    }

    private Map<Enum<?>, Counter> of(ListenerQueue observed) {
        return counters.computeIfAbsent(observed, queue -> {
            Meters meters = new Meters(registry, "listener", queue.listener(), "queue", queue.queue());
            Map<Enum<?>, Counter> all = new HashMap<>(meters.counters(
                    "exactly.once.observed", "outcome", List.of(ObservedOutcome.values()), ObservedOutcome::tag));
            all.putAll(meters.counters(
                    "exactly.once.unobserved", "reason", List.of(NotObserved.values()), NotObserved::tag));
            return all;
        });
    }
}
