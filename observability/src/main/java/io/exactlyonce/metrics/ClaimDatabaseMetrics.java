package io.exactlyonce.metrics;

import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.ReplicaLag;
import io.exactlyonce.primary.ReplicaObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Registers gauges of the lag of each streaming replica, and HikariCP's own meters of the pool of claims.
 *
 * <p>This object must exist before the pool opens its first connection. The startup check of the database opens that
 * connection, and reports the replicas to this observer.
 */
public final class ClaimDatabaseMetrics implements ReplicaObserver {

    private static final double MILLIS_PER_SECOND = 1_000;

    private final MultiGauge seconds;
    private final MultiGauge bytes;

    /**
     * @param registry registers the meters
     * @param claims the pool of claims. HikariCP's meters are registered only if this library made the pool, because
     *     Spring Boot measures the application's own pools
     */
    public ClaimDatabaseMetrics(MeterRegistry registry, ClaimPool claims) {
        Meters meters = new Meters(registry);
        seconds = meters.gauges("exactly.once.replica.lag", "seconds");
        bytes = meters.gauges("exactly.once.replica.lag.bytes", "bytes");
        claims.own().ifPresent(pool -> pool.setMetricRegistry(registry));
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
