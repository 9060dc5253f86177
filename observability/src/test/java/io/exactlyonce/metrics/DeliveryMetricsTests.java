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
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedGate;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeliveryMetricsTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "o1");

    private final SimpleMeterRegistry simple = new SimpleMeterRegistry();
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final WindowWatch watch = new WindowWatch(true, List.of(), () -> 0);
    private final DeliveryMetrics metrics = new DeliveryMetrics(simple, watch);
    private final ScriptedGate gate = new ScriptedGate("claims");
    private final Subscription orders = subscription("orders", 30, gate);

    @Test
    void listenerWithoutTrafficHasNoGaugeWithoutAValue() {
        deadLetterAfter(5);
        new DeliveryMetrics(prometheus, watch).subscribed(orders);

        assertThat(prometheus.scrape()).doesNotContain("NaN").doesNotContain("Inf}");
    }

    @Test
    void deliveriesInFlightAreCountedAcrossARestart() {
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
    void deliveriesBeyondTheVisibilityTimeoutThatTheyWereReceivedByAreCounted() {
        VisibilityWindow before = orders.settings().window();
        metrics.subscribed(orders);
        orders.change(new QueueSettings(VisibilityWindow.ofSeconds(60), null));
        metrics.changed(orders);

        metrics.on(new DeliveryEvent.Delivered(orders, before, Duration.ofSeconds(30)));
        metrics.on(new DeliveryEvent.Delivered(orders, before, Duration.ofSeconds(31)));
        metrics.on(new DeliveryEvent.Delivered(orders, orders.settings().window(), Duration.ofSeconds(59)));

        assertThat(count("exactly.once.window.exceeded")).isOne();
    }

    @Test
    void redeliveriesAndAgesAreReported() {
        deadLetterAfter(8);
        metrics.subscribed(orders);
        assertThat(gauge("exactly.once.receives.left", "orders")).isEqualTo(8);

        metrics.on(new DeliveryEvent.Received(orders, 1, Duration.ofSeconds(2)));
        metrics.on(new DeliveryEvent.Received(orders, 2, null));
        metrics.on(new DeliveryEvent.Received(orders, 7, Duration.ofSeconds(90)));
        metrics.on(new DeliveryEvent.Received(orders, 5, Duration.ofSeconds(3)));

        assertThat(count("exactly.once.receives", "receive", "1")).isOne();
        assertThat(count("exactly.once.receives", "receive", "2")).isOne();
        assertThat(count("exactly.once.receives", "receive", "3")).isZero();
        assertThat(count("exactly.once.receives", "receive", "5+")).isEqualTo(2);
        assertThat(gauge("exactly.once.receives.left", "orders")).isOne();
        Timer age = simple.get("exactly.once.message.age").timer();
        assertThat(age.count()).isEqualTo(3);
        assertThat(age.max(TimeUnit.SECONDS)).isEqualTo(90);
        metrics.on(new DeliveryEvent.Received(orders, 9, null));
        assertThat(gauge("exactly.once.receives.left", "orders")).isZero();
    }

    @Test
    void queueThatLosesItsDeadLetterQueueHasNoReceivesLeftToTell() {
        metrics.subscribed(orders);
        assertThat(simple.find("exactly.once.receives.left").gauge()).isNull();
        deadLetterAfter(3);
        metrics.changed(orders);
        deadLetterAfter(4);
        metrics.changed(orders);
        assertThat(gauge("exactly.once.receives.left", "orders")).isEqualTo(4);
        deadLetterAfter(null);
        metrics.changed(orders);
        assertThat(simple.find("exactly.once.receives.left").gauge()).isNull();
    }

    @Test
    void endsOfDeliveriesAreCountedApart() {
        Delivery handled = new Delivery(orders, orders.settings(), "m1", "r1", 1, 0);
        handled.transition(DeliveryState.RECEIVED, DeliveryState.CLAIMING);
        handled.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        handled.beginCall(new Cancellation());
        Delivery duplicate = new Delivery(orders, orders.settings(), "m2", "r2", 2, 0);

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
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(1, 1, false)));
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(2, 2, false)));
        assertThat(count("exactly.once.takeovers")).isZero();
        metrics.on(new DeliveryEvent.Claimed(orders, KEY, new Acquired(2, 2, true)));
        assertThat(count("exactly.once.takeovers")).isOne();
    }

    @Test
    void waitingDeliveriesAndPausesAreShownUntilTheListenerStops() {
        deadLetterAfter(5);
        metrics.subscribed(orders);
        orders.levels().waiting().set(3);
        orders.levels().recording().set(4);
        gate.pause(true);
        assertThat(gauge("exactly.once.waiting", "orders")).isEqualTo(3);
        assertThat(gauge("exactly.once.completions.pending", "orders")).isEqualTo(4);
        assertThat(gauge("exactly.once.listener.paused", "orders")).isOne();

        orders.stop();
        metrics.unsubscribed(orders);

        assertThat(gauge("exactly.once.listener.paused", "orders")).isZero();
        assertThat(simple.find("exactly.once.receives.left").gauge()).isNull();
        assertThat(count("exactly.once.takeovers")).as("counters go on").isZero();
    }

    @Test
    void whatIsRareIsCounted() {
        metrics.subscribed(orders);
        metrics.on(new DeliveryEvent.CompletionLost(orders));
        metrics.on(new DeliveryEvent.FinalReceive(orders));
        metrics.on(new RenewalEvent.TimedOut(orders, KEY));
        metrics.on(new RenewalEvent.Paused(Duration.ofSeconds(3)));
        metrics.on(new RenewalEvent.Paused(Duration.ofSeconds(2)));

        assertThat(count("exactly.once.completions.lost")).isOne();
        assertThat(count("exactly.once.final.receives")).isOne();
        assertThat(count("exactly.once.handler.timeouts", "listener", "fulfilment", "queue", "orders"))
                .isOne();
        Timer pauses = simple.get("exactly.once.renewal.pauses").timer();
        assertThat(pauses.count()).isEqualTo(2);
        assertThat(pauses.max(TimeUnit.SECONDS)).isEqualTo(3);
    }

    @Test
    void outcomesAndRenewalsAreCountedApartFromTheSubscriptionOn() {
        metrics.subscribed(orders);
        int meters = simple.getMeters().size();

        List.of(
                        new Acquired(1, 1, false),
                        new AlreadyCompleted(null),
                        new ClaimOutcome.Mismatch(null),
                        new HeldElsewhere(Duration.ofSeconds(1)),
                        new Parked())
                .forEach(outcome -> metrics.on(new DeliveryEvent.Claimed(orders, KEY, outcome)));
        for (Target target : Target.values()) {
            for (Result result : Result.values()) {
                metrics.on(new RenewalEvent.Renewed(orders, target, result));
            }
        }

        assertThat(simple.get("exactly.once.claims").counters())
                .extracting(counter -> counter.getId().getTag("outcome") + " " + counter.count())
                .containsExactlyInAnyOrder(
                        "acquired 1.0", "already_completed 1.0", "mismatch 1.0", "held_elsewhere 1.0", "parked 1.0");
        assertThat(simple.get("exactly.once.renewals").counters()).hasSize(6).allMatch(counter -> counter.count() == 1);
        assertThat(simple.getMeters()).hasSize(meters);
    }

    @Test
    void nothingIsRegisteredAgainLater() {
        metrics.subscribed(orders);
        int meters = simple.getMeters().size();

        metrics.subscribed(orders);
        metrics.on(new DeliveryEvent.Handled(orders, Duration.ofSeconds(1)));
        metrics.on(new DeliveryEvent.Delivered(orders, orders.settings().window(), Duration.ofSeconds(1)));
        metrics.on(new RenewalEvent.TimedOut(orders, KEY));
        metrics.on(new RenewalEvent.Paused(Duration.ofSeconds(1)));

        assertThat(simple.getMeters()).hasSize(meters);
    }

    @Test
    void queuesAndListenersAreMeasuredApart() {
        metrics.subscribed(orders);
        Subscription parcels = subscription("parcels", 300);
        metrics.subscribed(parcels);
        for (int delivery = 0; delivery < 300; delivery++) {
            DeliveryEvent delivered =
                    new DeliveryEvent.Delivered(parcels, parcels.settings().window(), Duration.ofSeconds(150));
            metrics.on(delivered);
            watch.on(delivered);
        }

        assertThat(gauge("exactly.once.window", "orders")).isEqualTo(30);
        assertThat(gauge("exactly.once.window", "parcels")).isEqualTo(300);
        assertThat(gauge("exactly.once.window.utilization", "orders")).isZero();
        assertThat(gauge("exactly.once.window.utilization", "parcels")).isCloseTo(0.5, within(0.03));
    }

    private void deadLetterAfter(@Nullable Integer receives) {
        orders.change(new QueueSettings(orders.settings().window(), receives));
    }

    private double gauge(String name, String queue) {
        return simple.get(name).tag("queue", queue).gauge().value();
    }

    private double count(String counter, String... tags) {
        return simple.get(counter).tags(tags).counter().count();
    }

    private static Subscription subscription(String queue, long timeoutSeconds) {
        return subscription(queue, timeoutSeconds, PollGate.OPEN);
    }

    private static Subscription subscription(String queue, long timeoutSeconds, PollGate gate) {
        return new Subscription(
                "fulfilment",
                queue,
                new QueueSettings(VisibilityWindow.ofSeconds(timeoutSeconds), null),
                null,
                new ScriptedQueue(),
                gate);
    }
}
