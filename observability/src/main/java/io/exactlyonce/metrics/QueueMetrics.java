package io.exactlyonce.metrics;

import io.exactlyonce.audit.QueueObserver;
import io.exactlyonce.queue.Subscription;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Gauges that show how many messages each listener's queue has. SQS counts the messages of all consumers. The audit of
 * the queue reads these counts once a minute.
 *
 * <p>Two queues in different Regions or accounts can have the same name. They share a gauge, which shows the larger
 * number.
 */
public final class QueueMetrics implements QueueObserver {

    private static final String IN_FLIGHT = "in_flight";

    private final MultiGauge messages;
    private final MultiGauge utilization;

    /**
     * The latest number of messages in each state (for example {@code visible}). If SQS stops reporting a number, the
     * last one is kept.
     */
    private final Map<Subscription, Map<String, Long>> told = new ConcurrentHashMap<>();

    /** @param registry registers the meters */
    public QueueMetrics(MeterRegistry registry) {
        Meters meters = new Meters(registry);
        messages = meters.gauges("exactly.once.queue.messages", null);
        utilization = meters.gauges("exactly.once.queue.in.flight.utilization", "ratio");
    }

    @Override
    public void observed(Subscription subscription, Levels levels) {
        note(subscription, "visible", levels.visible());
        note(subscription, IN_FLIGHT, levels.inFlight());
        note(subscription, "delayed", levels.delayed());
        note(subscription, "dead", levels.deadLetters());
        show();
    }

    private void note(Subscription subscription, String state, @Nullable Long number) {
        if (number != null) {
            told.computeIfAbsent(subscription, key -> new ConcurrentHashMap<>()).put(state, number);
        }
    }

    @Override
    public void forgotten(Subscription subscription) {
        told.remove(subscription);
        show();
    }

    private synchronized void show() {
        List<Row<?>> states = new ArrayList<>();
        List<Row<?>> shares = new ArrayList<>();
        told.forEach((subscription, numbers) -> {
            String queue = subscription.queue();
            for (String state : numbers.keySet()) {
                states.add(Row.of(Tags.of("queue", queue, "state", state), () -> most(queue, state)));
            }
            if (numbers.containsKey(IN_FLIGHT)) {
                shares.add(Row.of(Tags.of("queue", queue), () -> most(queue, IN_FLIGHT) / (double) IN_FLIGHT_CAP));
            }
        });
        messages.register(states);
        utilization.register(shares);
    }

    private long most(String queue, String state) {
        long most = 0;
        for (Map.Entry<Subscription, Map<String, Long>> each : told.entrySet()) {
            if (each.getKey().queue().equals(queue)) {
                most = Math.max(most, each.getValue().getOrDefault(state, 0L));
            }
        }
        return most;
    }
}
