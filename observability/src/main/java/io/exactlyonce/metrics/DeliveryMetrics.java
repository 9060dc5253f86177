package io.exactlyonce.metrics;

import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.visibility.ListenerQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Measures deliveries, listener by listener and queue by queue. */
public final class DeliveryMetrics implements DeliveryObserver {

    private final MeterRegistry registry;
    private final WindowWatch watch;
    private final Timer pauses;

    private final Map<ListenerQueue, ListenerMeters> meters = new ConcurrentHashMap<>();

    /**
     * @param registry where the meters are registered
     * @param watch the state of visibility timeouts
     */
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
    public void on(DeliveryEvent event) {
        if (event instanceof DeliveryEvent.Received received) {
            of(received.subscription()).received(received.receiveCount(), received.age());
        } else if (event instanceof DeliveryEvent.Claimed claimed) {
            of(claimed.subscription()).claimed(claimed.outcome());
        } else if (event instanceof DeliveryEvent.Handled handled) {
            of(handled.subscription()).handler.record(handled.elapsed());
        } else if (event instanceof DeliveryEvent.Settled settled) {
            of(settled.delivery().subscription()).settled(settled.delivery(), settled.state());
        } else if (event instanceof DeliveryEvent.Acknowledged acknowledged) {
            of(acknowledged.delivery().subscription()).acknowledgements.increment();
        } else if (event instanceof DeliveryEvent.Delivered delivered) {
            of(delivered.subscription()).delivered(delivered.elapsed(), delivered.window());
        } else if (event instanceof DeliveryEvent.CompletionLost lost) {
            of(lost.subscription()).completionsLost.increment();
        } else if (event instanceof DeliveryEvent.FinalReceive last) {
            of(last.subscription()).finalReceives.increment();
        }
    }

    @Override
    public void on(RenewalEvent event) {
        if (event instanceof RenewalEvent.Renewed renewed) {
            of(renewed.subscription()).renewed(renewed.target(), renewed.result());
        } else if (event instanceof RenewalEvent.TimedOut timedOut) {
            of(timedOut.subscription()).timeouts.increment();
        } else if (event instanceof RenewalEvent.Paused paused) {
            pauses.record(paused.length());
        }
    }

    private ListenerMeters of(Subscription subscription) {
        return meters.computeIfAbsent(
                subscription.listenerQueue(), key -> new ListenerMeters(registry, subscription, watch));
    }
}
