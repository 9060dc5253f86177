package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InFlightDeliveries;
import io.exactlyonce.delivery.waiting.WaitingDeliveries;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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

    /** Returns also those that are on their last receive: their listener does not wait for them any longer. */
    void returnLast(Subscription subscription) {
        returnHeldBack(inFlight.of(subscription));
    }

    private void returnUnstarted(Collection<Delivery> deliveries) {
        returnHeldBack(deliveries.stream()
                .filter(delivery -> !delivery.isOnItsLastReceive())
                .toList());
    }

    private void returnHeldBack(Collection<Delivery> deliveries) {
        List<Delivery> unstarted = new ArrayList<>();
        Map<Delivery, CompletableFuture<?>> claimed = new LinkedHashMap<>();
        for (Delivery delivery : deliveries) {
            delivery.giveUpClaim().ifPresentOrElse(givenUp -> claimed.put(delivery, givenUp), () -> {
                if (delivery.holdBack()) {
                    unstarted.add(delivery);
                }
            });
        }
        returnAll(unstarted);
        var unused = CompletableFuture.allOf(claimed.values().toArray(CompletableFuture[]::new))
                .whenComplete((released, never) -> {
                    returnAll(claimed.keySet());
                    claimed.keySet().forEach(Delivery::leave);
                });
    }

    private void returnAll(Collection<Delivery> heldBack) {
        Map<Delivery, Duration> returned = new LinkedHashMap<>();
        for (Delivery delivery : heldBack) {
            if (delivery.step(DeliveryState.HELD_BACK, DeliveryState.RETURNED)) {
                returned.put(delivery, Duration.ZERO);
            }
        }
        if (!returned.isEmpty()) {
            inFlight.returnAll(returned);
        }
    }
}
