package io.exactlyonce.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.renewal.RenewalObserver.Result;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.ScriptedGate;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import io.exactlyonce.window.WindowWatch;
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

    private static final ClaimKey KEY = new ClaimKey("orders", "o1");

    private static final String ORDERS = "listener=\"fulfilment\",queue=\"orders\"";

    private final SimpleMeterRegistry simple = new SimpleMeterRegistry();
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final WindowWatch watch = new WindowWatch(true, List.of(), () -> 0);
    private final ScriptedGate gate = new ScriptedGate("claims");
    private final Subscription orders = subscription("orders", 30, gate);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "exactly_once_delivery_seconds_count{" + ORDERS + "} 0",
                "exactly_once_delivery_seconds_max{" + ORDERS + "} 0.0",
                "exactly_once_delivery_quantile_seconds{listener=\"fulfilment\",quantile=\"0.5\",queue=\"orders\"} 0.0",
                "exactly_once_delivery_quantile_seconds{listener=\"fulfilment\",quantile=\"0.95\",queue=\"orders\"} 0.0",
                "exactly_once_delivery_quantile_seconds{listener=\"fulfilment\",quantile=\"0.99\",queue=\"orders\"} 0.0",
                "exactly_once_handler_seconds_count{" + ORDERS + "} 0",
                "exactly_once_handler_timeouts_total{" + ORDERS + "} 0.0",
                "exactly_once_renewal_pauses_seconds_count 0",
                "exactly_once_renewal_pauses_seconds_max 0.0",
                "exactly_once_handler_quantile_seconds{listener=\"fulfilment\",quantile=\"0.5\",queue=\"orders\"} 0.0",
                "exactly_once_handler_quantile_seconds{listener=\"fulfilment\",quantile=\"0.95\",queue=\"orders\"} 0.0",
                "exactly_once_handler_quantile_seconds{listener=\"fulfilment\",quantile=\"0.99\",queue=\"orders\"} 0.0",
                "exactly_once_window_seconds{" + ORDERS + "} 30.0",
                "exactly_once_delivery_seconds_bucket{" + ORDERS + ",le=\"30.0\"} 0",
                "exactly_once_handler_seconds_bucket{" + ORDERS + ",le=\"24.0\"} 0",
                "exactly_once_window_utilization_ratio{" + ORDERS + "} 0.0",
                "exactly_once_window_headroom_seconds{" + ORDERS + "} 30.0",
                "exactly_once_window_exceeded_total{" + ORDERS + "} 0.0",
                "exactly_once_in_flight{" + ORDERS + "} 0.0",
                "exactly_once_message_age_seconds_count{" + ORDERS + "} 0",
                "exactly_once_message_age_seconds_max{" + ORDERS + "} 0.0",
                "exactly_once_receives_total{" + ORDERS + ",receive=\"1\"} 0.0",
                "exactly_once_receives_total{" + ORDERS + ",receive=\"5+\"} 0.0",
                "exactly_once_completions_total{" + ORDERS + "} 0.0",
                "exactly_once_acknowledgements_total{" + ORDERS + "} 0.0",
                "exactly_once_takeovers_total{" + ORDERS + "} 0.0",
                "exactly_once_handlers_abandoned_total{" + ORDERS + "} 0.0",
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
                "exactly_once_completions_pending{" + ORDERS + "} 0.0",
                "exactly_once_completions_lost_total{" + ORDERS + "} 0.0",
                "exactly_once_receives_run_out_total{" + ORDERS + "} 0.0",
                "exactly_once_listener_paused{" + ORDERS + ",way=\"claims\"} 0.0",
            })
    void everyMeterIsScrapedFromTheSubscriptionOn(String line) {
        DeliveryMetrics metrics = new DeliveryMetrics(prometheus, watch);
        metrics.subscribed(orders);

        assertThat(prometheus.scrape().lines()).anyMatch(scraped -> scraped.startsWith(line));
    }

    @Test
    void listenerWithoutTrafficHasNoGaugeWithoutAValue() {
        DeliveryMetrics metrics = new DeliveryMetrics(prometheus, watch);
        metrics.subscribed(orders.revised(orders.window(), 5));

        assertThat(prometheus.scrape()).doesNotContain("NaN").doesNotContain("Inf}");
    }

    @Test
    void deliveriesInFlightAreCountedAcrossARestart() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        Subscription restarted = subscription("orders", 30);
        orders.levels().inFlight().addAndGet(1);
        orders.levels().inFlight().addAndGet(1);
        orders.levels().waiting().set(2);

        metrics.subscribed(restarted);
        restarted.levels().inFlight().addAndGet(1);
        restarted.levels().waiting().set(1);
        assertThat(gauge("exactly.once.in.flight", "orders")).isEqualTo(3);
        assertThat(gauge("exactly.once.waiting", "orders")).isEqualTo(3);
        orders.levels().inFlight().addAndGet(-1);
        orders.levels().inFlight().addAndGet(-1);
        orders.levels().waiting().set(0);
        assertThat(gauge("exactly.once.in.flight", "orders")).isOne();
        assertThat(gauge("exactly.once.waiting", "orders")).isOne();
    }

    @Test
    void deliveriesBeyondTheWindowThatTheyWereReceivedByAreCounted() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders.revised(VisibilityWindow.ofSeconds(60), null));

        metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(30)));
        metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(31)));
        metrics.on(new DeliveryEvent.Delivered(
                orders.revised(VisibilityWindow.ofSeconds(60), null), Duration.ofSeconds(59)));

        assertThat(count("exactly.once.window.exceeded")).isOne();
    }

    @Test
    void headroomIsWhatP95LeavesOfTheWindow() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(45)));
        watch.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(45)));

        assertThat(gauge("exactly.once.window.headroom", "orders")).isCloseTo(-15, within(3.0));
        assertThat(simple.get("exactly.once.delivery.quantile")
                        .tag("quantile", "0.95")
                        .gauge()
                        .value())
                .isCloseTo(45, within(3.0));
    }

    @Test
    void redeliveriesAndAgesAreTold() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders.revised(orders.window(), 8));
        assertThat(gauge("exactly.once.receives.left", "orders")).isEqualTo(8);

        metrics.on(new DeliveryEvent.Received(orders, 1, Duration.ofSeconds(2)));
        metrics.on(new DeliveryEvent.Received(orders, 2, null));
        metrics.on(new DeliveryEvent.Received(orders, 7, Duration.ofSeconds(90)));
        metrics.on(new DeliveryEvent.Received(orders, 5, Duration.ofSeconds(3)));

        assertThat(receives("1")).isOne();
        assertThat(receives("2")).isOne();
        assertThat(receives("3")).isZero();
        assertThat(receives("5+")).isEqualTo(2);
        assertThat(gauge("exactly.once.receives.left", "orders")).isOne();
        Timer age = simple.get("exactly.once.message.age").timer();
        assertThat(age.count()).isEqualTo(3);
        assertThat(age.max(TimeUnit.SECONDS)).isEqualTo(90);
        metrics.on(new DeliveryEvent.Received(orders, 9, null));
        assertThat(gauge("exactly.once.receives.left", "orders")).isZero();
    }

    private double receives(String receive) {
        return simple.get("exactly.once.receives")
                .tag("receive", receive)
                .counter()
                .count();
    }

    @Test
    void queueThatLosesItsDeadLetterQueueHasNoReceivesLeftToTell() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        assertThat(simple.find("exactly.once.receives.left").gauge()).isNull();
        metrics.subscribed(orders.revised(orders.window(), 3));
        metrics.subscribed(orders.revised(orders.window(), 4));
        assertThat(gauge("exactly.once.receives.left", "orders")).isEqualTo(4);
        metrics.subscribed(orders);
        assertThat(simple.find("exactly.once.receives.left").gauge()).isNull();
    }

    @Test
    void stoppedListenerHasNoReceivesLeftAndIsNotPaused() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders.revised(orders.window(), 5));
        gate.pause(true);
        orders.stop();

        metrics.unsubscribed(orders);

        assertThat(simple.find("exactly.once.receives.left").gauge()).isNull();
        assertThat(gauge("exactly.once.listener.paused", "orders")).isZero();
        assertThat(count("exactly.once.takeovers")).as("counters go on").isZero();
    }

    @Test
    void levelsOfARevisedSubscriptionAreKeptForAsLongAsItRuns() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders.revised(orders.window(), 5));
        orders.levels().inFlight().set(2);

        System.gc();

        assertThat(gauge("exactly.once.in.flight", "orders")).isEqualTo(2);
    }

    @Test
    void endsOfDeliveriesAreCountedApart() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        Delivery handled = new Delivery(orders, "m1", "r1", 1, 0);
        handled.step(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        handled.step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        handled.enter(new Cancellation());
        Delivery duplicate = new Delivery(orders, "m2", "r2", 2, 0);

        metrics.on(new DeliveryEvent.Settled(handled, DeliveryState.DELETING));
        metrics.on(new DeliveryEvent.Settled(duplicate, DeliveryState.DELETING));
        metrics.on(new DeliveryEvent.Settled(handled, DeliveryState.RETURNED));
        metrics.on(new DeliveryEvent.Acknowledged(handled));
        metrics.on(new DeliveryEvent.Acknowledged(duplicate));
        assertThat(count("exactly.once.completions")).isOne();
        assertThat(count("exactly.once.acknowledgements")).isEqualTo(2);
        assertThat(count("exactly.once.handlers.abandoned")).isZero();
        metrics.on(new DeliveryEvent.Settled(handled, DeliveryState.ABANDONED));
        assertThat(count("exactly.once.handlers.abandoned")).isOne();
    }

    @Test
    void claimsInDoubtAreTakeovers() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(1, 1, false)));
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(2, 2, false)));
        assertThat(count("exactly.once.takeovers")).isZero();
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(2, 2, true)));
        assertThat(count("exactly.once.takeovers")).isOne();
    }

    private double count(String counter) {
        return simple.get(counter).counter().count();
    }

    @Test
    void waitingDeliveriesAndPausesAreShown() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);

        orders.levels().waiting().set(3);
        orders.levels().recording().set(4);
        metrics.on(new DeliveryEvent.CompletionLost(orders));
        gate.pause(true);
        metrics.on(new DeliveryEvent.ReceivesRunOut(orders));
        metrics.on(new DeliveryEvent.ReceivesRunOut(orders));

        assertThat(simple.get("exactly.once.waiting").gauge().value()).isEqualTo(3);
        assertThat(simple.get("exactly.once.listener.paused").gauge().value()).isEqualTo(1);
        assertThat(simple.get("exactly.once.receives.run.out").counter().count())
                .isEqualTo(2);
        assertThat(simple.get("exactly.once.completions.pending").gauge().value())
                .isEqualTo(4);
        assertThat(simple.get("exactly.once.completions.lost").counter().count())
                .isOne();
        orders.levels().waiting().set(0);
        gate.pause(false);
        assertThat(simple.get("exactly.once.waiting").gauge().value()).isZero();
        assertThat(simple.get("exactly.once.listener.paused").gauge().value()).isZero();
        gate.pause(true);
        orders.stop();
        assertThat(simple.get("exactly.once.listener.paused").gauge().value())
                .as("of a listener that has stopped")
                .isZero();
    }

    @Test
    void tagsAreBounded() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new AlreadyCompleted("result")));
        metrics.on(new DeliveryEvent.Renewed(orders, Target.LEASE, Result.LOST));

        assertThat(simple.getMeters()).hasSizeGreaterThan(10).allSatisfy(meter -> {
            Set<String> tags = meter.getId().getTags().stream().map(Tag::getKey).collect(Collectors.toSet());
            assertThat(tags).isEqualTo(allowed(meter.getId()));
        });
    }

    private static Set<String> allowed(Meter.Id meter) {
        return switch (meter.getName()) {
            case "exactly.once.claims" -> Set.of("listener", "queue", "outcome");
            case "exactly.once.window.recommended" -> Set.of("listener", "queue", "rule");
            case "exactly.once.renewals" -> Set.of("listener", "queue", "target", "result");
            case "exactly.once.delivery.histogram",
                    "exactly.once.handler.histogram",
                    "exactly.once.message.age.histogram" -> Set.of("listener", "queue", "le");
            case "exactly.once.delivery.quantile", "exactly.once.handler.quantile" ->
                Set.of("listener", "queue", "quantile");
            case "exactly.once.receives" -> Set.of("listener", "queue", "receive");
            case "exactly.once.listener.paused" -> Set.of("listener", "queue", "way");
            // The whole JVM pauses.
            case "exactly.once.renewal.pauses" -> Set.of();
            default -> Set.of("listener", "queue");
        };
    }

    @Test
    void nothingIsRegisteredAgainLater() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        int meters = simple.getMeters().size();

        metrics.subscribed(orders);
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(1, 1, false)));
        metrics.on(new DeliveryEvent.Handled(orders, Duration.ofSeconds(1)));
        metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(1)));
        metrics.on(new DeliveryEvent.Renewed(orders, Target.WINDOW, Result.SUCCEEDED));
        metrics.on(new DeliveryEvent.TimedOut(orders));
        metrics.on(new DeliveryEvent.Paused(Duration.ofSeconds(1)));

        assertThat(simple.getMeters()).hasSize(meters);
    }

    @Test
    void timeoutsAndPausesAreCounted() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        metrics.on(new DeliveryEvent.TimedOut(orders));
        metrics.on(new DeliveryEvent.Paused(Duration.ofSeconds(3)));
        metrics.on(new DeliveryEvent.Paused(Duration.ofSeconds(2)));

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
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);

        metrics.on(new DeliveryEvent.Claimed(orders, KEY, outcome));

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
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);

        for (Target target : Target.values()) {
            for (Result result : Result.values()) {
                metrics.on(new DeliveryEvent.Renewed(orders, target, result));
            }
        }
        metrics.on(new DeliveryEvent.Renewed(orders, Target.LEASE, Result.LOST));

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
        DeliveryMetrics metrics = new DeliveryMetrics(prometheus, watch);

        metrics.on(new DeliveryEvent.Handled(orders, Duration.ofSeconds(2)));
        metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(3)));
        metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofSeconds(4)));

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
        DeliveryMetrics metrics = new DeliveryMetrics(registry, watch);
        metrics.subscribed(orders);
        for (int millis = 1; millis <= 100; millis++) {
            metrics.on(new DeliveryEvent.Delivered(orders, Duration.ofMillis(millis * 300L)));
            watch.on(new DeliveryEvent.Delivered(orders, Duration.ofMillis(millis * 300L)));
        }

        assertThat(registry.get("exactly.once.window.utilization").gauge().value())
                .isCloseTo(0.95, within(0.03));
    }

    @Test
    void queuesAndListenersAreMeasuredApart() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        metrics.subscribed(subscription("parcels", 300));
        metrics.on(new DeliveryEvent.Delivered(subscription("parcels", 300), Duration.ofSeconds(150)));
        watch.on(new DeliveryEvent.Delivered(subscription("parcels", 300), Duration.ofSeconds(150)));

        assertThat(gauge("exactly.once.window", "orders")).isEqualTo(30);
        assertThat(gauge("exactly.once.window", "parcels")).isEqualTo(300);
        assertThat(gauge("exactly.once.window.utilization", "orders")).isZero();
        assertThat(gauge("exactly.once.window.utilization", "parcels")).isCloseTo(0.5, within(0.03));
    }

    @Test
    void restartedListenerShowsTheWindowThatItFound() {
        DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
        metrics.subscribed(orders);
        Subscription restarted = subscription("orders", 120);
        metrics.subscribed(restarted);
        watch.subscribed(restarted);

        assertThat(gauge("exactly.once.window", "orders")).isEqualTo(120);
    }

    private double gauge(String name, String queue) {
        return simple.get(name).tag("queue", queue).gauge().value();
    }

    private static Subscription subscription(String queue, long window) {
        return subscription(queue, window, PollGate.OPEN);
    }

    private static Subscription subscription(String queue, long window, PollGate gate) {
        return new Subscription(
                "fulfilment", queue, VisibilityWindow.ofSeconds(window), null, new ScriptedQueue(), null, gate);
    }
}
