package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.InFlightDeliveries;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.ReceiveBudget;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deliveries that wait for the holder of their key, or for the claim store. They have left their pipeline, hold
 * neither thread nor permit, and stay invisible since their windows are renewed like those of handlers at work.
 *
 * <p>Each wait has one end: the thread that removes the delivery does what is to be done. A delivery whose window is lost is
 * only dropped: another consumer may have received its message by now.
 */
public final class WaitingDeliveries {

    private static final Logger log = LoggerFactory.getLogger(WaitingDeliveries.class);

    private final InFlightDeliveries inFlight;
    private final ReceiveBudget budget;
    private final DeliveryObserver observer;
    private final int most;
    private final Set<WaitingDelivery> deliveries = ConcurrentHashMap.newKeySet();
    private final AtomicInteger taken = new AtomicInteger();
    private final Map<Subscription, Integer> counts = new ConcurrentHashMap<>();

    public WaitingDeliveries(InFlightDeliveries inFlight, ReceiveBudget budget, DeliveryObserver observer, int most) {
        this.inFlight = inFlight;
        this.budget = budget;
        this.observer = observer;
        this.most = most;
    }

    /** Has a delivery wait, if there is room; returns it otherwise. */
    public void admit(Delivery delivery, Disposition.Await awaited) {
        budget.check(delivery);
        if (taken.incrementAndGet() > most) {
            taken.decrementAndGet();
            turnAway(delivery, awaited.leastDelay());
            return;
        }
        deliveries.add(new WaitingDelivery(delivery, awaited));
        count(delivery, 1);
    }

    /** Returns a delivery that cannot wait here. */
    public void turnAway(Delivery delivery, Duration leastDelay) {
        Duration sparing = budget.delay(delivery);
        returnAfter(delivery, sparing.compareTo(leastDelay) > 0 ? sparing : leastDelay);
    }

    public List<WaitingDelivery> all() {
        return List.copyOf(deliveries);
    }

    /** Drops those whose messages may be visible to other consumers. */
    void dropLost() {
        for (WaitingDelivery waiting : deliveries) {
            if (!waiting.delivery().renewal().isInvisible() && take(waiting)) {
                inFlight.end(waiting.delivery());
            }
        }
    }

    /** Ends a wait as the key's state asks for, unless it has ended already. */
    void end(WaitingDelivery waiting, KeyState state) {
        if (state == KeyState.HELD || !take(waiting)) {
            return;
        }
        Delivery delivery = waiting.delivery();
        log.debug("{} has waited: its key {} is {}", delivery, waiting.key(), state);
        switch (state) {
            case COMPLETED -> delete(delivery);
            case FREE -> expose(waiting);
            default -> {
                OutcomePolicy.parked(delivery, waiting.key());
                turnAway(delivery, Duration.ZERO);
            }
        }
    }

    /** Ends a wait as for a delivery that is received now, and refused, unless it has ended already. */
    void end(WaitingDelivery waiting, ClaimOutcome refused, OutcomePolicy refusals) {
        if (!take(waiting)) {
            return;
        }
        Delivery delivery = waiting.delivery();
        observer.claimed(delivery.subscription(), waiting.key(), refused);
        Duration delay = budget.retryDelay(delivery);
        Disposition decided = refusals.decide(delivery, waiting.request(), refused, new Disposition.Return(delay));
        if (decided instanceof Disposition.Acknowledge) {
            delete(delivery);
        } else {
            returnAfter(delivery, delay);
        }
    }

    private void expose(WaitingDelivery waiting) {
        if (waiting.mayFailAgain()) {
            turnAway(waiting.delivery(), Duration.ZERO);
        } else {
            returnAfter(waiting.delivery(), Duration.ZERO);
        }
    }

    private void returnAfter(Delivery delivery, Duration delay) {
        if (delivery.step(DeliveryState.WAITING, DeliveryState.RETURNED)) {
            inFlight.returnAfter(delivery, delay);
        }
    }

    private void delete(Delivery delivery) {
        if (delivery.step(DeliveryState.WAITING, DeliveryState.DELETING)) {
            inFlight.delete(delivery);
        }
    }

    /**
     * Returns all deliveries of a stopping listener, so that other consumers can wait in its place. Not at once: a
     * deployment that stops one instance after the other would use a receive up at each, within seconds.
     */
    public void endAll(Subscription subscription) {
        Map<Delivery, Duration> ended = new LinkedHashMap<>();
        for (WaitingDelivery waiting : deliveries) {
            Delivery delivery = waiting.delivery();
            if (delivery.subscription().equals(subscription)
                    && take(waiting)
                    && delivery.step(DeliveryState.WAITING, DeliveryState.RETURNED)) {
                ended.put(delivery, budget.delay(delivery));
            }
        }
        inFlight.returnAll(ended);
    }

    private boolean take(WaitingDelivery waiting) {
        if (!deliveries.remove(waiting)) {
            return false;
        }
        taken.decrementAndGet();
        count(waiting.delivery(), -1);
        return true;
    }

    private void count(Delivery delivery, int change) {
        counts.compute(delivery.subscription(), (subscription, before) -> {
            int now = (before == null ? 0 : before) + change;
            observer.waiting(subscription, now);
            return now == 0 ? null : now;
        });
    }
}
