package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.ReplicaLag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClaimDatabaseMetricsTests {

    private static final String SECONDS = "exactly_once_replica_lag_seconds{replica=\"a@10.0.0.1\"} ";
    private static final String BYTES = "exactly_once_replica_lag_bytes{replica=\"a@10.0.0.1\"} ";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ClaimPool pool = new ClaimPool(
            new ClaimPool.Target("url", "jdbc:postgresql://127.0.0.1:1/nowhere", null, null), 2, Duration.ofSeconds(1));
    private final ClaimDatabaseMetrics meters = new ClaimDatabaseMetrics(registry, pool);

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void everyReplicaHasItsGauges() {
        meters.observed(List.of(lag("a@10.0.0.1", 1_500, 42), lag("b@10.0.0.2", 0, 0)));

        assertThat(registry.scrape().lines())
                .contains(SECONDS + "1.5", BYTES + "42.0")
                .contains("exactly_once_replica_lag_seconds{replica=\"b@10.0.0.2\"} 0.0");
    }

    @Test
    void latestObservationCounts() {
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

    @Test
    void poolOfOurOwnIsMeasured() {
        assertThatThrownBy(() -> pool.dataSource().getConnection()).isInstanceOf(SQLException.class);

        assertThat(registry.scrape().lines()).contains("hikaricp_connections_max{pool=\"exactly-once-claims\"} 2.0");
    }

    @Test
    void poolOfTheApplicationIsLeftAlone() {
        try (var applications = new HikariDataSource()) {
            new ClaimDatabaseMetrics(registry, ClaimPool.around(applications, 2));

            assertThat(applications.getMetricRegistry()).isNull();
        }
    }

    private static ReplicaLag lag(String replica, long millis, long bytes) {
        return new ReplicaLag(replica, Duration.ofMillis(millis), bytes);
    }
}
