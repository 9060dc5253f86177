package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InFlightDeliveries;
import io.exactlyonce.delivery.waiting.WaitingDeliveries;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The subscriptions whose listeners have begun to stop: no handler of theirs begins any more, and what none has begun to
 * process is visible to other consumers at once.
 *
 * <p>A delivery on its last receive is an exception: its queue would give it up, untried, rather than deliver it again. It
 * goes on as if nothing had happened, for as long as its listener waits for handlers.
 */
final class StoppedListeners {

    private final InFlightDeliveries inFlight;
    private final WaitingDeliveries waiters;
    private final Set<Subscription> subscriptions = ConcurrentHashMap.newKeySet();

    StoppedListeners(InFlightDeliveries inFlight, WaitingDeliveries waiters) {
        this.inFlight = inFlight;
        this.waiters = waiters;
    }

    boolean contains(Subscription subscription) {
        return !subscriptions.isEmpty() && subscriptions.contains(subscription);
    }

    /** Returns what has not begun, and what waits for a key or the store. What begins or is received meanwhile meets the mark. */
    void add(Subscription subscription) {
        // A listener that has been started again since has another subscription.
        subscriptions.removeIf(former -> !former.equals(subscription) && isOfSameListener(former, subscription));
        subscriptions.add(subscription);
        waiters.endAll(subscription);
        returnUnstarted(inFlight.of(subscription));
    }

    /** Ends a wait that began while its listener's stop did: the stop may have looked for waits before. */
    void endWaitsOf(Subscription subscription) {
        if (contains(subscription)) {
            waiters.endAll(subscription);
        }
    }

    private static boolean isOfSameListener(Subscription former, Subscription subscription) {
        return former.listener().equals(subscription.listener())
                && former.queue().equals(subscription.queue());
    }

    /** Returns those whose listener has begun to stop: the answer to a poll may come later than that. */
    void returnLate(Collection<Delivery> received) {
        if (!subscriptions.isEmpty()) {
            returnUnstarted(received.stream()
                    .filter(delivery -> contains(delivery.subscription()))
                    .toList());
        }
    }

    private void returnUnstarted(Collection<Delivery> deliveries) {
        Map<Delivery, Duration> unstarted = new LinkedHashMap<>();
        for (Delivery delivery : deliveries) {
            if (!delivery.isOnItsLastReceive()
                    && delivery.holdBack()
                    && delivery.step(DeliveryState.HELD_BACK, DeliveryState.RETURNED)) {
                unstarted.put(delivery, Duration.ZERO);
            }
        }
        if (!unstarted.isEmpty()) {
            inFlight.returnAll(unstarted);
        }
    }
}
