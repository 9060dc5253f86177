package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.primary.ReplicaLag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplicaLagMetricsTests {

    private static final String SECONDS = "exactly_once_replica_lag_seconds{replica=\"a@10.0.0.1\"} ";
    private static final String BYTES = "exactly_once_replica_lag_bytes{replica=\"a@10.0.0.1\"} ";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ReplicaLagMetrics meters = new ReplicaLagMetrics(registry);

    @Test
    void everyReplicaHasItsGauges() {
        meters.observed(List.of(lag("a@10.0.0.1", 1_500, 42), lag("b@10.0.0.2", 0, 0)));

        assertThat(registry.scrape().lines())
                .contains(SECONDS + "1.5", BYTES + "42.0")
                .contains("exactly_once_replica_lag_seconds{replica=\"b@10.0.0.2\"} 0.0");
    }

    @Test
    void latestLookCounts() {
        meters.observed(List.of(lag("a@10.0.0.1", 1_500, 42)));
        meters.observed(List.of(lag("a@10.0.0.1", 0, 7)));

        assertThat(registry.scrape().lines()).contains(SECONDS + "0.0", BYTES + "7.0");
    }

    @Test
    void replicaThatIsGoneHasNone() {
        meters.observed(List.of(lag("a@10.0.0.1", 1_500, 42)));
        meters.observed(List.of());

        assertThat(registry.scrape()).doesNotContain("a@10.0.0.1");
    }

    private static ReplicaLag lag(String replica, long millis, long bytes) {
        return new ReplicaLag(replica, Duration.ofMillis(millis), bytes);
    }
}
