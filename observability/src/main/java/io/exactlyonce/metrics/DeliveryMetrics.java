package io.exactlyonce.metrics;

import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Measures deliveries per listener and queue. */
public final class DeliveryMetrics implements DeliveryEvent.Observer {

    private final MeterRegistry registry;
    private final WindowWatch watch;
    private final Timer pauses;

    private final Map<ListenerQueue, ListenerMeters> meters = new ConcurrentHashMap<>();

    /** @param watch measures latencies and recommends visibility timeouts */
    public DeliveryMetrics(MeterRegistry registry, WindowWatch watch) {
        this.registry = registry;
        this.watch = watch;
        this.pauses = new Meters(registry).timer("exactly.once.renewal.pauses");
    }

    @Override
    public void subscribed(Subscription subscription) {
        of(subscription).subscribed(subscription);
    }

    @Override
    public void changed(Subscription subscription) {
        of(subscription).changed(subscription.settings());
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        of(subscription).unsubscribed();
    }

    @Override
    public void received(DeliveryEvent.Received event) {
        of(event.subscription()).received(event.receiveCount(), event.age());
    }

    @Override
    public void claimed(DeliveryEvent.Claimed event) {
        of(event.subscription()).claimed(event.outcome());
    }

    @Override
    public void handled(DeliveryEvent.Handled event) {
        of(event.subscription()).handler.record(event.elapsed());
    }

    @Override
    public void completionLost(DeliveryEvent.CompletionLost event) {
        of(event.subscription()).completionsLost.increment();
    }

    /** Counts nothing, because {@link ParkedMetrics} counts the parked keys in the store. */
    @Override
    public void parked(DeliveryEvent.Parked event) {}

    @Override
    public void settled(DeliveryEvent.Settled event) {
        of(event.delivery().subscription()).settled(event.delivery(), event.state());
    }

    @Override
    public void acknowledged(DeliveryEvent.Acknowledged event) {
        of(event.delivery().subscription()).acknowledgements.increment();
    }

    @Override
    public void delivered(DeliveryEvent.Delivered event) {
        of(event.subscription()).delivered(event.elapsed(), event.window());
    }

    @Override
    public void finalReceive(DeliveryEvent.FinalReceive event) {
        of(event.subscription()).finalReceives.increment();
    }

    /** Counts nothing. SQS counts dead letters itself. */
    @Override
    public void lastReceiveFailed(DeliveryEvent.LastReceiveFailed event) {}

    @Override
    public void keyMissing(DeliveryEvent.KeyMissing event) {
        of(event.subscription()).keyMissing(event.policy());
    }

    @Override
    public void renewed(RenewalEvent.Renewed event) {
        of(event.subscription()).renewed(event.target(), event.result());
    }

    /** Counts nothing. {@link #renewed} has already counted the lost lease. */
    @Override
    public void claimLost(RenewalEvent.ClaimLost event) {}

    @Override
    public void timedOut(RenewalEvent.TimedOut event) {
        of(event.subscription()).timeouts.increment();
    }

    @Override
    public void paused(RenewalEvent.Paused event) {
        pauses.record(event.length());
    }

    private ListenerMeters of(Subscription subscription) {
        return meters.computeIfAbsent(
                subscription.listenerQueue(), key -> new ListenerMeters(registry, subscription, watch));
    }
}
