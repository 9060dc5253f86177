package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.InFlightDeliveries;
import io.exactlyonce.visibility.Subscription;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * How the deliveries of one listener end while it stops: three steps in this order, each harmless if it is repeated.
 * Renewals go on until the last, so that nothing which is still being handled or deleted comes to another consumer.
 */
public final class ListenerStop {

    private final Subscription subscription;
    private final Deliveries deliveries;
    private final InFlightDeliveries inFlight;
    private final StoppedListeners stopped;
    private final AtomicBoolean interrupted = new AtomicBoolean();

    ListenerStop(
            Subscription subscription, Deliveries deliveries, InFlightDeliveries inFlight, StoppedListeners stopped) {
        this.subscription = subscription;
        this.deliveries = deliveries;
        this.inFlight = inFlight;
        this.stopped = stopped;
    }

    /**
     * Makes visible at once what no handler has begun, also what is received from now on, and returns what waits for
     * a key or the store. Running handlers go on.
     */
    public void begin() {
        stopped.add(subscription);
    }

    /**
     * Interrupts the handlers that are still running. Those that heed it within a moment have their claims released and
     * their messages returned, before their threads and the database connections go. The claims of the rest end with their
     * leases.
     */
    public void interruptHandlers() {
        if (!interrupted.compareAndSet(false, true)) {
            return;
        }
        begin();
        stopped.returnLast(subscription);
        List<Delivery> running = inFlight.of(subscription);
        running.forEach(Delivery::abandon);
        LastWait.forAll(running, subscription);
        running.stream().filter(delivery -> delivery.left().isDone()).forEach(this::settle);
    }

    /** Its pipeline may have no thread any more to do it. */
    private void settle(Delivery delivery) {
        if (deliveries.settleWhileStopping(delivery)) {
            inFlight.delete(delivery);
        }
    }

    /** Returns whose deliveries end. */
    public Subscription subscription() {
        return subscription;
    }

    /** Renews nothing any more. */
    public void end() {
        interruptHandlers();
        inFlight.of(subscription).forEach(inFlight::end);
    }
}
