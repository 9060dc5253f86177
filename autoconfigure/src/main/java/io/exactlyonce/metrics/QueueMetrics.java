package io.exactlyonce.metrics;

import io.exactlyonce.audit.QueueObserver;
import io.exactlyonce.visibility.Subscription;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of queues, as SQS tells their numbers each minute: of all consumers. What it does not tell has no gauge, nor has a queue
 * that no listener receives from any more. Queues of one name, in two regions or accounts, share a gauge: it shows the larger number.
 */
public final class QueueMetrics implements QueueObserver {

    private static final String IN_FLIGHT = "in_flight";

    private final MeterRegistry registry;
    private final Map<Shown, Level> levels = new HashMap<>();

    private record Shown(String queue, String state) {}

    private record Level(Map<Subscription, Long> told, List<Meter> gauges) {

        double most() {
            long most = 0;
            for (long each : told.values()) {
                most = Math.max(most, each);
            }
            return most;
        }
    }

    /** @param registry where the meters are registered */
    public QueueMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public synchronized void observed(Subscription subscription, Levels levels) {
        note(subscription, "visible", levels.visible());
        note(subscription, IN_FLIGHT, levels.inFlight());
        note(subscription, "delayed", levels.delayed());
        note(subscription, "dead", levels.deadLetters());
    }

    private void note(Subscription subscription, String state, @Nullable Long number) {
        if (number != null) {
            levels.computeIfAbsent(new Shown(subscription.queue(), state), this::show)
                    .told()
                    .put(subscription, number);
        }
    }

    private Level show(Shown shown) {
        Meters meters = new Meters(registry, Tags.of("queue", shown.queue()));
        Level level = new Level(new ConcurrentHashMap<>(), new ArrayList<>(2));
        level.gauges()
                .add(meters.gauge(
                        "exactly.once.queue.messages",
                        null,
                        "Messages of a queue, approximately: visible, in_flight, delayed, and dead (visible in its dead-letter"
                                + " queue). SQS's own numbers, read each minute; every instance reports the same",
                        level::most,
                        "state",
                        shown.state()));
        if (shown.state().equals(IN_FLIGHT)) {
            level.gauges()
                    .add(meters.gauge(
                            "exactly.once.queue.in.flight.utilization",
                            "ratio",
                            "Messages in flight / 120,000, which SQS allows for all consumers of a queue",
                            () -> level.most() / IN_FLIGHT_CAP));
        }
        return level;
    }

    @Override
    public synchronized void forgotten(Subscription subscription) {
        levels.values().removeIf(level -> {
            boolean wasLast =
                    level.told().remove(subscription) != null && level.told().isEmpty();
            if (wasLast) {
                level.gauges().forEach(registry::remove);
            }
            return wasLast;
        });
    }
}
