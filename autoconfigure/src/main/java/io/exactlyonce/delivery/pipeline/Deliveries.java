package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.InFlightDeliveries;
import io.exactlyonce.delivery.ReceiveBudget;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.Telling;
import io.exactlyonce.delivery.waiting.WaitingDeliveries;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The deliveries in flight: renewed from their receive until they are deleted, returned or abandoned, so that none is
 * renewed for ever, whatever its way out.
 */
public final class Deliveries {

    private static final Logger log = LoggerFactory.getLogger(Deliveries.class);

    private final RenewalSupervisor supervisor;
    private final DeliveryObserver observer;
    private final RetryBackoff backoff;
    private final Jitter random;
    private final InFlightDeliveries inFlight;
    private final WaitingDeliveries waiters;
    private final Map<Subscription, ListenerStop> stopping = new ConcurrentHashMap<>();

    /**
     * @param supervisor renews windows and leases
     * @param observer learns of the end of each delivery
     * @param backoff how long a failed delivery stays away
     * @param clock monotonic, in nanoseconds
     * @param random from 0 inclusive to 1 exclusive
     * @param mostWaiters how many deliveries may wait for a key or the store at any time; more are returned
     */
    public Deliveries(
            RenewalSupervisor supervisor,
            DeliveryObserver observer,
            RetryBackoff backoff,
            NanoClock clock,
            Jitter random,
            int mostWaiters) {
        this.supervisor = supervisor;
        this.observer = observer;
        this.backoff = backoff;
        this.random = random;
        this.inFlight = new InFlightDeliveries(observer, clock);
        this.waiters = new WaitingDeliveries(
                inFlight, new ReceiveBudget(backoff, observer, clock, random), observer, mostWaiters);
    }

    /** Returns the deliveries that wait for a key or the store. */
    public WaitingDeliveries waiters() {
        return waiters;
    }

    /**
     * Renews deliveries from now on, before any handler has a thread for them. Those of a listener that has begun to stop
     * are returned at once.
     */
    public void begin(Collection<Delivery> received) {
        // All of them before the first is told of: what is thrown then must leave none that cannot be returned.
        for (Delivery delivery : received) {
            delivery.begin(supervisor.start(delivery.subscription(), delivery.receiptHandle(), delivery.receivedAt()));
        }
        received.forEach(inFlight::add);
        // The answer to a poll may come later than its listener's stop.
        stopping.forEach((listener, stop) -> stop.returnUnstarted(received.stream()
                .filter(delivery -> delivery.subscription().equals(listener))
                .toList()));
    }

    /**
     * Does what was decided on a delivery that has left its listener. One on which nothing was decided failed before it
     * was claimed: it is returned with backoff.
     *
     * @return whether the message is to be deleted; it is renewed on until that is confirmed
     */
    public boolean settle(Delivery delivery) {
        return settle(delivery, backoff.after(delivery.receiveCount(), random.next()), true);
    }

    /**
     * Does what was decided on a delivery whose listener is stopping. One on which nothing was decided is made visible at
     * once, for other consumers; one that would have to wait, soon.
     *
     * @return whether the message is to be deleted; it is renewed on until that is confirmed
     */
    public boolean settleWhileStopping(Delivery delivery) {
        delivery.holdBack();
        return settle(delivery, Duration.ZERO, false);
    }

    private boolean settle(Delivery delivery, Duration undecidedDelay, boolean mayWait) {
        Optional<DeliveryState> settled = delivery.settle();
        if (settled.isEmpty()) {
            return false;
        }
        Telling.of(delivery, () -> observer.settled(delivery, settled.get()));
        switch (settled.get()) {
            case ABANDONED -> inFlight.end(delivery);
            case WAITING -> await(delivery, mayWait);
            case RETURNED -> returnAfter(delivery, undecidedDelay);
            default -> {}
        }
        return settled.get() == DeliveryState.DELETING;
    }

    /** One that was held back has cost no other consumer anything, which can have it at once. */
    private void returnAfter(Delivery delivery, Duration undecidedDelay) {
        Duration delay =
                delivery.disposition() instanceof Disposition.Return decided ? decided.delay() : undecidedDelay;
        inFlight.returnAfter(delivery, delivery.isHeldBack() ? Duration.ZERO : delay);
    }

    private void await(Delivery delivery, boolean mayWait) {
        Subscription subscription = delivery.subscription();
        if (mayWait && !isStopping(subscription) && delivery.disposition() instanceof Disposition.Await awaited) {
            waiters.admit(delivery, awaited);
            // The stop may have looked for waits before.
            if (isStopping(subscription)) {
                waiters.endAll(subscription);
            }
        } else {
            waiters.turnAway(delivery, Duration.ZERO);
        }
    }

    /**
     * The queue is about to be asked for the delete.
     *
     * @return completes when it may be asked: when no renewal is under way that began before
     */
    public CompletableFuture<Void> acknowledging(Delivery delivery) {
        return delivery.renewal().deleting();
    }

    /** The queue has confirmed the delete. */
    public void acknowledged(Delivery delivery) {
        try {
            observer.acknowledged(delivery);
        } finally {
            inFlight.end(delivery);
        }
    }

    /** The queue has refused the delete: the message will come again, as a duplicate. */
    public void acknowledgementFailed(Delivery delivery) {
        log.warn("Deleting {} failed; it may be delivered again, as a duplicate", delivery);
        inFlight.end(delivery);
    }

    /**
     * A thread that had deliveries in hand has crashed. As if the process had been killed, they are renewed no more, and neither
     * released nor returned nor deleted. May be told twice of one.
     */
    public void abandon(List<Delivery> deliveries) {
        deliveries.forEach(inFlight::abandon);
    }

    /** Returns how the deliveries of a listener end that is about to stop. */
    public ListenerStop stop(Subscription subscription) {
        return new ListenerStop(subscription, this, inFlight, waiters);
    }

    /** A listener begins to stop. One that has been started again since its last stop has another subscription. */
    void stopping(ListenerStop stop) {
        Subscription subscription = stop.subscription();
        stopping.keySet()
                .removeIf(former -> !former.equals(subscription)
                        && former.listener().equals(subscription.listener())
                        && former.queue().equals(subscription.queue()));
        stopping.put(subscription, stop);
    }

    /** Returns whether a listener has begun to stop: none of its handlers begins any more. */
    boolean isStopping(Subscription subscription) {
        return stopping.containsKey(subscription);
    }
}
