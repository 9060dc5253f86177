package io.exactlyonce.metrics;

import io.exactlyonce.primary.ReplicaLag;
import io.exactlyonce.primary.ReplicaObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Gauges for each replica that streams; a replica that is gone has none. */
public final class ReplicaLagMetrics implements ReplicaObserver {

    private static final double MILLIS_PER_SECOND = 1_000;

    private final MultiGauge seconds;
    private final MultiGauge bytes;

    /** @param registry where the meters are registered */
    public ReplicaLagMetrics(MeterRegistry registry) {
        Meters meters = new Meters(registry);
        seconds = meters.gauges("exactly.once.replica.lag", "seconds");
        bytes = meters.gauges("exactly.once.replica.lag.bytes", "bytes");
    }

    @Override
    public void observed(List<ReplicaLag> replicas) {
        register(seconds, replicas, replica -> replica.lag().toMillis() / MILLIS_PER_SECOND);
        register(bytes, replicas, ReplicaLag::bytes);
    }

    private static void register(MultiGauge gauge, List<ReplicaLag> replicas, ToDoubleFunction<ReplicaLag> value) {
        gauge.register(
                replicas.stream()
                        .<MultiGauge.Row<?>>map(
                                replica -> MultiGauge.Row.of(Tags.of("replica", replica.replica()), replica, value))
                        .toList(),
                true);
    }
}
