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
 * Registers gauges that show how far each streaming replica is behind the primary. Also registers HikariCP's meters of
 * the connection pool for claims.
 *
 * <p>Create this object before the startup check opens the pool's first connection. Otherwise the gauges miss the state
 * of the replicas that this check reads.
 */
public final class ClaimDatabaseMetrics implements ReplicaObserver {

    private static final double MILLIS_PER_SECOND = 1_000;

    private final MultiGauge seconds;
    private final MultiGauge bytes;

    /**
     * @param claims the connection pool for claims. If the pool belongs to the application, HikariCP's meters are not
     *     registered here, because Spring Boot registers them
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
