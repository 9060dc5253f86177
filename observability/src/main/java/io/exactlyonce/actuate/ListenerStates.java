package io.exactlyonce.actuate;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.queue.Subscription;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The running listeners. */
public final class ListenerStates implements DeliveryObserver {

    private final Set<Subscription> running = ConcurrentHashMap.newKeySet();

    @Override
    public void subscribed(Subscription subscription) {
        running.add(subscription);
    }

    @Override
    public void unsubscribed(Subscription subscription) {
        running.remove(subscription);
    }

    /** Returns the subscriptions of all that run, by listener and queue. */
    public List<Subscription> all() {
        return running.stream()
                .sorted(Comparator.comparing(Subscription::listenerQueue))
                .toList();
    }
}
