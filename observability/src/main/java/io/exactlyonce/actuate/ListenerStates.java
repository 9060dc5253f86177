package io.exactlyonce.actuate;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.queue.Subscription;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

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

    /**
     * Returns how many failed attempts are allowed before a key of this scope is parked. If listeners allow different
     * numbers, returns the smallest. Returns {@code null} if no running listener has a limit.
     */
    @Nullable Integer maxAttempts(String scope) {
        Integer least = null;
        for (Subscription subscription : running) {
            Subscription.Attempts attempts = subscription.attempts();
            if (attempts != null
                    && attempts.most() > 0
                    && attempts.scope().equals(scope)
                    && (least == null || attempts.most() < least)) {
                least = attempts.most();
            }
        }
        return least;
    }

    /** Returns the subscriptions of all running listeners, sorted by listener and queue. */
    public List<Subscription> all() {
        return running.stream()
                .sorted(Comparator.comparing(Subscription::listenerQueue))
                .toList();
    }
}
