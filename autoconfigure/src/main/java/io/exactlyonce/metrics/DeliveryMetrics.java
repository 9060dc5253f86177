package io.exactlyonce.metrics;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/** Measures deliveries, listener by listener and queue by queue. */
public final class DeliveryMetrics implements DeliveryObserver {

    private final MeterRegistry registry;
    private final WindowWatch watch;
    private final Timer pauses;
    private final ConcurrentMap<Key, SubscriptionMeters> meters = new ConcurrentHashMap<>();

    private record Key(String listener, String queue) {}

    /**
     * @param registry where the meters are registered
     * @param watch what is known of windows
     */
    public DeliveryMetrics(MeterRegistry registry, WindowWatch watch) {
        this.registry = registry;
        this.watch = watch;
        this.pauses = Timer.builder("exactly.once.renewal.pauses")
                .description(
                        "How much later than planned renewals were looked for: pauses of the JVM or its machine that"
                                + " cost headroom. A pause hits all listeners")
                .register(registry);
    }

    @Override
    public void subscribed(Subscription subscription) {
        metersOf(subscription).subscribed(subscription);
    }

    @Override
    public void received(Subscription subscription, int receiveCount, @Nullable Duration age) {
        metersOf(subscription).receives.received(receiveCount, age);
    }

    @Override
    public void inFlight(Subscription subscription, int change) {
        metersOf(subscription).inFlight.addAndGet(change);
    }

    @Override
    public void claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) {
        metersOf(subscription).claimed(outcome);
    }

    @Override
    public void handled(Subscription subscription, Duration elapsed) {
        metersOf(subscription).window.handled(elapsed);
    }

    @Override
    public void delivered(Subscription subscription, Duration elapsed) {
        metersOf(subscription).window.delivered(elapsed, subscription.window());
    }

    @Override
    public void settled(Delivery delivery, DeliveryState state) {
        metersOf(delivery.subscription()).settled(delivery, state);
    }

    @Override
    public void acknowledged(Delivery delivery) {
        metersOf(delivery.subscription()).acknowledgements.increment();
    }

    @Override
    public void renewed(Subscription subscription, Target target, Result result) {
        metersOf(subscription).renewed(target, result);
    }

    @Override
    public void timedOut(Subscription subscription) {
        metersOf(subscription).handlerTimeouts.increment();
    }

    @Override
    public void paused(Duration length) {
        pauses.record(length);
    }

    @Override
    public void completionLost(Subscription subscription) {
        metersOf(subscription).completionsLost.increment();
    }

    @Override
    public void completing(Subscription subscription, int deliveries) {
        metersOf(subscription).completing.set(deliveries);
    }

    @Override
    public void waiting(Subscription subscription, int deliveries) {
        metersOf(subscription).waiting(subscription, deliveries);
    }

    @Override
    public void receivesRunOut(Subscription subscription) {
        metersOf(subscription).receivesRunOut.increment();
    }

    @Override
    public void pollingPaused(Subscription subscription, String way, boolean paused) {
        metersOf(subscription).paused(way, paused);
    }

    private SubscriptionMeters metersOf(Subscription subscription) {
        return meters.computeIfAbsent(
                new Key(subscription.listener(), subscription.queue()),
                key -> new SubscriptionMeters(registry, subscription, watch));
    }
}
