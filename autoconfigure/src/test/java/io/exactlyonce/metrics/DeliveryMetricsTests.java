package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeliveryMetricsTests {

    private static final String ORDERS = "listener=\"fulfilment\",queue=\"orders\"";

    private final SimpleMeterRegistry simple = new SimpleMeterRegistry();
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Subscription orders = subscription("orders", 30);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "exactly_once_delivery_seconds_count{" + ORDERS + "} 0",
                "exactly_once_delivery_seconds_max{" + ORDERS + "} 0.0",
                "exactly_once_delivery_seconds{" + ORDERS + ",quantile=\"0.5\"} ",
                "exactly_once_delivery_seconds{" + ORDERS + ",quantile=\"0.95\"} ",
                "exactly_once_delivery_seconds{" + ORDERS + ",quantile=\"0.99\"} ",
                "exactly_once_handler_seconds_count{" + ORDERS + "} 0",
                "exactly_once_handler_timeouts_total{" + ORDERS + "} 0.0",
                "exactly_once_renewal_pauses_seconds_count 0",
                "exactly_once_renewal_pauses_seconds_max 0.0",
                "exactly_once_handler_seconds{" + ORDERS + ",quantile=\"0.5\"} ",
                "exactly_once_handler_seconds{" + ORDERS + ",quantile=\"0.95\"} ",
                "exactly_once_handler_seconds{" + ORDERS + ",quantile=\"0.99\"} ",
                "exactly_once_window_seconds{" + ORDERS + "} 30.0",
                "exactly_once_window_utilization_ratio{" + ORDERS + "} 0.0",
                "exactly_once_claims_total{listener=\"fulfilment\",outcome=\"acquired\",queue=\"orders\"} 0.0",
                "exactly_once_claims_total{listener=\"fulfilment\",outcome=\"already_completed\",queue=\"orders\"} 0.0",
                "exactly_once_claims_total{listener=\"fulfilment\",outcome=\"held_elsewhere\",queue=\"orders\"} 0.0",
                "exactly_once_claims_total{listener=\"fulfilment\",outcome=\"parked\",queue=\"orders\"} 0.0",
                "exactly_once_renewals_total{" + ORDERS + ",result=\"succeeded\",target=\"window\"} 0.0",
                "exactly_once_renewals_total{" + ORDERS + ",result=\"failed\",target=\"window\"} 0.0",
                "exactly_once_renewals_total{" + ORDERS + ",result=\"lost\",target=\"window\"} 0.0",
                "exactly_once_renewals_total{" + ORDERS + ",result=\"succeeded\",target=\"lease\"} 0.0",
                "exactly_once_renewals_total{" + ORDERS + ",result=\"failed\",target=\"lease\"} 0.0",
                "exactly_once_renewals_total{" + ORDERS + ",result=\"lost\",target=\"lease\"} 0.0",
                "exactly_once_waiting{" + ORDERS + "} 0.0",
                "exactly_once_receives_run_out_total{" + ORDERS + "} 0.0",
                "exactly_once_listener_paused{" + ORDERS + ",way=\"claims\"} 0.0",
            })
    void everyMeterIsScrapedFromTheSubscriptionOn(String line) {
        DeliveryMetrics metrics = new DeliveryMetrics(prometheus);
        metrics.subscribed(orders);
        metrics.pollingPaused(orders, "claims", false);

        assertThat(prometheus.scrape().lines()).anyMatch(scraped -> scraped.startsWith(line));
    }

    @Test
    void waitingDeliveriesAndPausesAreShown() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);

        metrics.waiting(orders, 3);
        metrics.pollingPaused(orders, "claims", true);
        metrics.receivesRunOut(orders);
        metrics.receivesRunOut(orders);

        assertThat(simple.get("exactly.once.waiting").gauge().value()).isEqualTo(3);
        assertThat(simple.get("exactly.once.listener.paused").gauge().value()).isEqualTo(1);
        assertThat(simple.get("exactly.once.receives.run.out").counter().count())
                .isEqualTo(2);
        metrics.waiting(orders, 0);
        metrics.pollingPaused(orders, "claims", false);
        assertThat(simple.get("exactly.once.waiting").gauge().value()).isZero();
        assertThat(simple.get("exactly.once.listener.paused").gauge().value()).isZero();
    }

    @Test
    void tagsAreBounded() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);
        metrics.claimed(orders, new AlreadyCompleted("result"));
        metrics.renewed(orders, Target.LEASE, Result.LOST);
        metrics.pollingPaused(orders, "transactionManager", true);

        assertThat(simple.getMeters()).hasSizeGreaterThan(10).allSatisfy(meter -> {
            Set<String> tags = meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toSet());
            assertThat(tags).isEqualTo(allowed(meter.getId()));
        });
    }

    private static Set<String> allowed(Meter.Id meter) {
        return switch (meter.getName()) {
            case "exactly.once.claims" -> Set.of("listener", "queue", "outcome");
            case "exactly.once.renewals" -> Set.of("listener", "queue", "target", "result");
            // Simple registries publish percentiles as gauges of their own.
            case "exactly.once.delivery.percentile", "exactly.once.handler.percentile" ->
                Set.of("listener", "queue", "phi");
            case "exactly.once.listener.paused" -> Set.of("listener", "queue", "way");
            // The whole JVM pauses.
            case "exactly.once.renewal.pauses" -> Set.of();
            default -> Set.of("listener", "queue");
        };
    }

    @Test
    void nothingIsRegisteredAgainLater() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);
        int meters = simple.getMeters().size();

        metrics.subscribed(orders);
        metrics.claimed(orders, new Acquired(1, 1, false));
        metrics.handled(orders, Duration.ofSeconds(1));
        metrics.delivered(orders, Duration.ofSeconds(1));
        metrics.renewed(orders, Target.WINDOW, Result.SUCCEEDED);
        metrics.timedOut(orders);
        metrics.paused(Duration.ofSeconds(1));

        assertThat(simple.getMeters()).hasSize(meters);
    }

    @Test
    void timeoutsAndPausesAreCounted() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);
        metrics.timedOut(orders);
        metrics.paused(Duration.ofSeconds(3));
        metrics.paused(Duration.ofSeconds(2));

        assertThat(simple.get("exactly.once.handler.timeouts")
                        .tags("listener", "fulfilment", "queue", "orders")
                        .counter()
                        .count())
                .isEqualTo(1);
        Timer pauses = simple.get("exactly.once.renewal.pauses").timer();
        assertThat(pauses.count()).isEqualTo(2);
        assertThat(pauses.max(TimeUnit.SECONDS)).isEqualTo(3);
        assertThat(pauses.totalTime(TimeUnit.SECONDS)).isEqualTo(5);
    }

    static List<ClaimOutcome> outcomes() {
        return List.of(
                new Acquired(1, 1, false),
                new AlreadyCompleted(null),
                new ClaimOutcome.Mismatch(null),
                new HeldElsewhere(Duration.ofSeconds(1)),
                new Parked());
    }

    @ParameterizedTest
    @MethodSource("outcomes")
    void outcomesAreCountedApart(ClaimOutcome outcome) {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);

        metrics.claimed(orders, outcome);

        String tag = outcome.match(
                acquired -> "acquired",
                completed -> "already_completed",
                mismatch -> "mismatch",
                held -> "held_elsewhere",
                parked -> "parked");
        assertThat(simple.get("exactly.once.claims")
                        .tag("outcome", tag)
                        .counter()
                        .count())
                .isOne();
        assertThat(simple.get("exactly.once.claims").counters().stream()
                        .mapToDouble(counter -> counter.count())
                        .sum())
                .isOne();
    }

    @Test
    void renewalsAreCountedByTargetAndResult() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);

        for (Target target : Target.values()) {
            for (Result result : Result.values()) {
                metrics.renewed(orders, target, result);
            }
        }
        metrics.renewed(orders, Target.LEASE, Result.LOST);

        assertThat(renewals("lease", "lost")).isEqualTo(2);
        assertThat(renewals("lease", "failed")).isOne();
        assertThat(renewals("lease", "succeeded")).isOne();
        assertThat(renewals("window", "lost")).isOne();
        assertThat(renewals("window", "failed")).isOne();
        assertThat(renewals("window", "succeeded")).isOne();
    }

    private double renewals(String target, String result) {
        return simple.get("exactly.once.renewals")
                .tags("target", target, "result", result)
                .counter()
                .count();
    }

    @Test
    void handlersAndDeliveriesAreTimedApart() {
        DeliveryMetrics metrics = new DeliveryMetrics(prometheus);

        metrics.handled(orders, Duration.ofSeconds(2));
        metrics.delivered(orders, Duration.ofSeconds(3));
        metrics.delivered(orders, Duration.ofSeconds(4));

        assertThat(prometheus.scrape())
                .contains("exactly_once_handler_seconds_count{" + ORDERS + "} 1\n")
                .contains("exactly_once_handler_seconds_sum{" + ORDERS + "} 2.0\n")
                .contains("exactly_once_delivery_seconds_count{" + ORDERS + "} 2\n")
                .contains("exactly_once_delivery_seconds_sum{" + ORDERS + "} 7.0\n");
    }

    static List<MeterRegistry> registries() {
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        composite.add(new SimpleMeterRegistry());
        return List.of(new SimpleMeterRegistry(), new PrometheusMeterRegistry(PrometheusConfig.DEFAULT), composite);
    }

    @ParameterizedTest
    @MethodSource("registries")
    void utilizationIsThe95thPercentileAsAPartOfTheWindow(MeterRegistry registry) {
        DeliveryMetrics metrics = new DeliveryMetrics(registry);
        metrics.subscribed(orders);
        for (int millis = 1; millis <= 100; millis++) {
            metrics.delivered(orders, Duration.ofMillis(millis * 300L));
        }

        assertThat(registry.get("exactly.once.window.utilization").gauge().value())
                .isCloseTo(0.95, within(0.03));
    }

    @Test
    void queuesAndListenersAreMeasuredApart() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);
        metrics.subscribed(subscription("parcels", 300));
        metrics.delivered(subscription("parcels", 300), Duration.ofSeconds(150));

        assertThat(gauge("exactly.once.window", "orders")).isEqualTo(30);
        assertThat(gauge("exactly.once.window", "parcels")).isEqualTo(300);
        assertThat(gauge("exactly.once.window.utilization", "orders")).isZero();
        assertThat(gauge("exactly.once.window.utilization", "parcels")).isCloseTo(0.5, within(0.03));
    }

    @Test
    void restartedListenerShowsTheWindowThatItFound() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple);
        metrics.subscribed(orders);
        metrics.subscribed(subscription("orders", 120));

        assertThat(gauge("exactly.once.window", "orders")).isEqualTo(120);
    }

    private double gauge(String name, String queue) {
        return simple.get(name).tag("queue", queue).gauge().value();
    }

    private static Subscription subscription(String queue, long window) {
        return new Subscription("fulfilment", queue, VisibilityWindow.ofSeconds(window), new ScriptedQueue());
    }
}
