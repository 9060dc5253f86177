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
 * neither thread nor permit, and stay invisible since their windows are renewed like any other's.
 *
 * <p>Each waiter has one end: whoever takes it out does what is to be done. One whose window is lost is only dropped: its
 * message may be somebody else's by now.
 */
public final class WaitingDeliveries {

    private static final Logger log = LoggerFactory.getLogger(WaitingDeliveries.class);

    private final InFlightDeliveries inFlight;
    private final ReceiveBudget budget;
    private final DeliveryObserver observer;
    private final int most;
    private final Set<WaitingDelivery> waiters = ConcurrentHashMap.newKeySet();
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
        waiters.add(new WaitingDelivery(delivery, awaited));
        count(delivery.subscription(), 1);
    }

    /** Returns a delivery that cannot wait here. */
    public void turnAway(Delivery delivery, Duration leastDelay) {
        Duration sparing = budget.delay(delivery);
        returnAfter(delivery, sparing.compareTo(leastDelay) > 0 ? sparing : leastDelay);
    }

    public List<WaitingDelivery> all() {
        return List.copyOf(waiters);
    }

    /** Drops those whose messages may be visible to others. */
    void dropLost() {
        for (WaitingDelivery waiter : waiters) {
            if (!waiter.delivery().renewal().isInvisible() && take(waiter)) {
                inFlight.end(waiter.delivery());
            }
        }
    }

    /** Ends a wait as the key's state asks for, unless somebody else has ended it. */
    void end(WaitingDelivery waiter, KeyState state) {
        if (state == KeyState.HELD || !take(waiter)) {
            return;
        }
        Delivery delivery = waiter.delivery();
        log.debug("{} has waited: its key {} is {}", delivery, waiter.key(), state);
        switch (state) {
            case COMPLETED -> delete(delivery);
            case FREE -> expose(waiter);
            default -> {
                log.warn("{} is returned: {} is parked and waits for a person's decision", delivery, waiter.key());
                turnAway(delivery, Duration.ZERO);
            }
        }
    }

    /** Ends a wait as for a delivery that is received now, and refused, unless somebody else has ended it. */
    void end(WaitingDelivery waiter, ClaimOutcome refused, OutcomePolicy refusals) {
        if (!take(waiter)) {
            return;
        }
        Delivery delivery = waiter.delivery();
        observer.claimed(delivery.subscription(), refused);
        Duration delay = budget.retryDelay(delivery);
        Disposition decided = refusals.decide(delivery, waiter.request(), refused, new Disposition.Return(delay));
        if (decided instanceof Disposition.Acknowledge) {
            delete(delivery);
        } else {
            returnAfter(delivery, delay);
        }
    }

    private void expose(WaitingDelivery waiter) {
        if (waiter.mayFailAgain()) {
            turnAway(waiter.delivery(), Duration.ZERO);
        } else {
            returnAfter(waiter.delivery(), Duration.ZERO);
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
     * Returns all that wait for a stopping listener, so that other consumers can wait in its place. Not at once: a
     * deployment that stops one instance after the other would use a receive up at each, within seconds.
     */
    public void endAll(Subscription subscription) {
        Map<Delivery, Duration> ended = new LinkedHashMap<>();
        for (WaitingDelivery waiter : waiters) {
            Delivery delivery = waiter.delivery();
            if (delivery.subscription().equals(subscription)
                    && take(waiter)
                    && delivery.step(DeliveryState.WAITING, DeliveryState.RETURNED)) {
                ended.put(delivery, budget.delay(delivery));
            }
        }
        inFlight.returnAll(ended);
    }

    private boolean take(WaitingDelivery waiter) {
        if (!waiters.remove(waiter)) {
            return false;
        }
        taken.decrementAndGet();
        count(waiter.delivery().subscription(), -1);
        return true;
    }

    private void count(Subscription subscription, int change) {
        counts.compute(subscription, (key, before) -> {
            int now = (before == null ? 0 : before) + change;
            observer.waiting(subscription, now);
            return now == 0 ? null : now;
        });
    }
}
