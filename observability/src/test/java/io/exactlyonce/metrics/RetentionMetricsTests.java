package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetentionMetricsTests {

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final RetentionMetrics metrics = new RetentionMetrics(registry);

    @Test
    void countersAreZeroAndGaugesUnknownBeforeTheFirstSweep() {
        assertThat(registry.scrape().lines())
                .contains(
                        "exactly_once_claims_deleted_total 0.0",
                        "exactly_once_sweep_failures_total 0.0",
                        "exactly_once_sweep_seconds_count 0",
                        "exactly_once_claims_oldest_seconds NaN");
    }

    @Test
    void sweepsAreMeasured() {
        metrics.deleted(500);
        metrics.deleted(20);
        metrics.swept(Duration.ofMillis(1500));
        metrics.sweepFailed();
        metrics.surveyed(Duration.ofHours(1));

        assertThat(registry.scrape().lines())
                .contains(
                        "exactly_once_claims_deleted_total 520.0",
                        "exactly_once_sweep_failures_total 1.0",
                        "exactly_once_sweep_seconds_count 1",
                        "exactly_once_sweep_seconds_sum 1.5",
                        "exactly_once_claims_oldest_seconds 3600.0");
        metrics.surveyed(null);
        assertThat(registry.scrape().lines())
                .as("of an empty table")
                .contains("exactly_once_claims_oldest_seconds 0.0");
    }
}
