package io.exactlyonce.actuate;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The listeners that run. */
public final class ListenerStates implements DeliveryObserver {

    private final Map<Subscription, Subscription> running = new ConcurrentHashMap<>();

    /** Revisions of a subscription are equal. */
    @Override
    public void subscribed(Subscription subscription) {
        running.put(subscription, subscription);
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        running.remove(subscription);
    }

    /** Returns the subscriptions of all that run, as they were last read, by listener and queue. */
    public List<Subscription> all() {
        return running.values().stream()
                .sorted(Comparator.comparing(Subscription::listener).thenComparing(Subscription::queue))
                .toList();
    }
}
