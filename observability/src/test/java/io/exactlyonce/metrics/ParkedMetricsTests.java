package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.ParkedClaims.Count;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ParkedMetricsTests {

    private static final Instant NOON = Instant.parse("2026-11-28T12:00:00Z");

    private final ParkedClaims claims = mock();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ParkedMetrics metrics = new ParkedMetrics(registry, claims, InstantSource.fixed(NOON));

    private List<String> gauges() {
        return registry.scrape()
                .lines()
                .filter(line -> line.startsWith("exactly_once_claims_parked"))
                .toList();
    }

    @Test
    void gaugesShowHowManyKeysOfAScopeAreParkedAndSinceWhen() {
        assertThat(gauges()).isEmpty();
        when(claims.count())
                .thenReturn(List.of(
                        new Count("orders", 3, NOON.minusSeconds(90)), new Count("refunds", 1, NOON.plusSeconds(1))));
        metrics.refresh();

        assertThat(gauges())
                .containsExactlyInAnyOrder(
                        "exactly_once_claims_parked{scope=\"orders\"} 3.0",
                        "exactly_once_claims_parked{scope=\"refunds\"} 1.0",
                        "exactly_once_claims_parked_age_seconds{scope=\"orders\"} 90.0",
                        "exactly_once_claims_parked_age_seconds{scope=\"refunds\"} 0.0");
    }

    @Test
    void scopeWithoutParkedKeysHasNoGauge() {
        when(claims.count()).thenReturn(List.of(new Count("orders", 3, NOON))).thenReturn(List.of());
        metrics.refresh();
        metrics.refresh();

        assertThat(gauges()).isEmpty();
    }

    @Test
    void gaugesKeepTheirValuesWhileTheStoreIsBusy() {
        when(claims.count())
                .thenReturn(List.of(new Count("orders", 3, NOON)))
                .thenThrow(new ClaimStoreBusyException("busy"));
        metrics.refresh();
        metrics.refresh();

        assertThat(gauges()).contains("exactly_once_claims_parked{scope=\"orders\"} 3.0");
    }

    /** If an application has a scope for each customer, the number of series must stay bounded. */
    @Test
    void fewestKeysShareAGauge() {
        List<Count> counts = new ArrayList<>();
        for (int scope = 1; scope <= 25; scope++) {
            counts.add(new Count("s" + scope, scope, NOON.minusSeconds(scope)));
        }
        when(claims.count()).thenReturn(counts);
        metrics.refresh();

        assertThat(gauges())
                .hasSize(2 * (ParkedMetrics.MOST_SCOPES + 1))
                .contains(
                        "exactly_once_claims_parked{scope=\"s25\"} 25.0",
                        "exactly_once_claims_parked{scope=\"(others)\"} 15.0",
                        "exactly_once_claims_parked_age_seconds{scope=\"(others)\"} 5.0");
    }
}
