package io.exactlyonce.metrics;

import io.exactlyonce.audit.QueueLevels;
import io.exactlyonce.audit.QueueObserver;
import io.exactlyonce.visibility.Subscription;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gauges of queues, as SQS tells their numbers each minute: of all consumers. What it does not tell has no gauge. */
public final class QueueMetrics implements QueueObserver {

    private final MeterRegistry registry;
    private final Map<String, Queue> queues = new ConcurrentHashMap<>();

    /** @param registry where the meters are registered */
    public QueueMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void observed(Subscription subscription, QueueLevels levels) {
        queues.computeIfAbsent(
                        subscription.queue(), name -> new Queue(new Meters(registry, Tags.of(MeterNames.QUEUE, name))))
                .show(levels);
    }

    /** The gauges of one queue. */
    private static final class Queue {

        private static final String UTILIZATION = "utilization";

        private final Meters meters;
        private final Map<String, Double> shown = new ConcurrentHashMap<>();

        Queue(Meters meters) {
            this.meters = meters;
        }

        void show(QueueLevels levels) {
            show("visible", levels.visible(), this::messages);
            show("in_flight", levels.inFlight(), this::messages);
            show("delayed", levels.delayed(), this::messages);
            show("dead", levels.deadLetters(), this::messages);
            Long inFlight = levels.inFlight();
            show(
                    UTILIZATION,
                    inFlight == null ? null : inFlight / (double) QueueLevels.IN_FLIGHT_CAP,
                    this::utilization);
        }

        private void show(String what, @Nullable Number now, Consumer<String> register) {
            if (now != null && shown.put(what, now.doubleValue()) == null) {
                register.accept(what);
            }
        }

        private void messages(String state) {
            meters.gauge(
                    MeterNames.QUEUE_MESSAGES,
                    null,
                    "Messages of a queue, approximately: visible, in_flight, delayed, and dead (visible in its dead-letter"
                            + " queue). SQS's own numbers, read each minute; every instance reports the same",
                    () -> shown.get(state),
                    MeterNames.STATE,
                    state);
        }

        private void utilization(String what) {
            meters.gauge(
                    MeterNames.QUEUE_IN_FLIGHT,
                    "ratio",
                    "Messages in flight / 120,000, which SQS allows for all consumers of a queue",
                    () -> shown.get(what));
        }
    }
}
