package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MetricsTests {

    @Test
    void excerptHasOurMetersWithoutNoise() {
        Metrics metrics = Metrics.parse("""
                # HELP exactly_once_claims_total Claims
                exactly_once_claims_total{listener="orders",outcome="acquired",queue="q"} 60.0
                exactly_once_handler_quantile_seconds{listener="orders",quantile="0.5",queue="q"} 0.2
                exactly_once_handler_quantile_seconds{listener="orders",quantile="0.95",queue="q"} 6.1
                exactly_once_handler_seconds_bucket{listener="orders",queue="q",le="2.0"} 40
                exactly_once_handler_seconds_count{listener="orders",queue="q"} 60
                exactly_once_handler_seconds_sum{listener="orders",queue="q"} 99.0
                exactly_once_handler_seconds_max{listener="orders",queue="q"} 6.9
                jvm_threads_live_threads 42.0
                """);

        assertThat(metrics.excerpt())
                .containsExactly(
                        "exactly_once_claims_total{listener=\"orders\",outcome=\"acquired\",queue=\"q\"} 60.0",
                        "exactly_once_handler_quantile_seconds{listener=\"orders\",quantile=\"0.95\",queue=\"q\"} 6.1",
                        "exactly_once_handler_seconds_count{listener=\"orders\",queue=\"q\"} 60");
    }

    @Test
    void valuesAreFoundByMeterAndLabels() {
        Metrics metrics = Metrics.parse("""
                exactly_once_claims_total{listener="orders",outcome="acquired",queue="q"} 60.0
                exactly_once_claims_total{listener="orders",outcome="parked",queue="q"} 1.0
                exactly_once_pool_pending{listener="orders",queue="q"} +Inf
                exactly_once_claims_parked 2.0
                """);

        assertThat(metrics.values("exactly_once_claims_total")).containsExactly(60.0, 1.0);
        assertThat(metrics.values("exactly_once_claims_total", "outcome=\"acquired\""))
                .containsExactly(60.0);
        assertThat(metrics.values("exactly_once_pool_pending")).containsExactly(Double.POSITIVE_INFINITY);
        assertThat(metrics.values("exactly_once_claims_parked")).containsExactly(2.0);
        assertThat(metrics.values("exactly_once_claims")).isEmpty();
    }
}
