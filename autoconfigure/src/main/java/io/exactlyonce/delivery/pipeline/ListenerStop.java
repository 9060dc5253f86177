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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the deliveries of one listener end while it stops: three steps in this order, each harmless if it is repeated.
 * Renewals go on until the last, so that nothing which is still being handled or deleted comes to another consumer.
 *
 * <p>From the first step on no handler of the listener begins any more, and what none has begun to process is visible to other
 * consumers at once. A delivery on its last receive is an exception: its queue would give it up, untried, rather than deliver
 * it again. It goes on as if nothing had happened, for as long as its listener waits for handlers.
 */
public final class ListenerStop {

    private static final Logger log = LoggerFactory.getLogger(ListenerStop.class);

    /** The moment that handlers have which were interrupted. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(2);

    private final Subscription subscription;
    private final Deliveries deliveries;
    private final InFlightDeliveries inFlight;
    private final WaitingDeliveries waiters;
    private final AtomicBoolean interrupted = new AtomicBoolean();

    ListenerStop(
            Subscription subscription, Deliveries deliveries, InFlightDeliveries inFlight, WaitingDeliveries waiters) {
        this.subscription = subscription;
        this.deliveries = deliveries;
        this.inFlight = inFlight;
        this.waiters = waiters;
    }

    /** Returns whose deliveries end. */
    public Subscription subscription() {
        return subscription;
    }

    /**
     * Makes visible at once what no handler has begun, also what is received from now on, and returns what waits for
     * a key or the store. Running handlers go on.
     */
    public void begin() {
        // First: what begins or is received meanwhile meets it.
        deliveries.stopping(subscription);
        waiters.endAll(subscription);
        returnUnstarted(inFlight.of(subscription));
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
        // Also what is on its last receive: it is not waited for any longer.
        returnHeldBack(inFlight.of(subscription));
        List<Delivery> running = inFlight.of(subscription);
        running.forEach(Delivery::abandon);
        awaitLastMoment(running);
        running.stream().filter(delivery -> delivery.left().isDone()).forEach(this::settle);
    }

    /** Renews nothing any more. */
    public void end() {
        interruptHandlers();
        inFlight.of(subscription).forEach(inFlight::end);
    }

    private void awaitLastMoment(List<Delivery> abandoned) {
        try {
            CompletableFuture.allOf(abandoned.stream().map(Delivery::left).toArray(CompletableFuture[]::new))
                    .get(LAST_MOMENT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException stubborn) {
            log.warn(
                    "Handlers of {} go on after they were interrupted; their claims end with their leases",
                    subscription);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /** Its pipeline may have no thread any more to do it. */
    private void settle(Delivery delivery) {
        if (deliveries.settleWhileStopping(delivery)) {
            inFlight.delete(delivery);
        }
    }

    /** Makes visible what no handler has begun, and what may be tried once more. */
    void returnUnstarted(Collection<Delivery> received) {
        returnHeldBack(received.stream()
                .filter(delivery -> !delivery.isOnItsLastReceive())
                .toList());
    }

    private void returnHeldBack(Collection<Delivery> received) {
        List<Delivery> unstarted = new ArrayList<>();
        Map<Delivery, CompletableFuture<?>> claimed = new LinkedHashMap<>();
        for (Delivery delivery : received) {
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
