package io.exactlyonce.delivery;

import io.exactlyonce.visibility.RenewalSupervisor;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
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
    private final ReturnBackoff backoff;
    private final LongSupplier clock;
    private final DoubleSupplier random;
    private final Set<Delivery> inFlight = ConcurrentHashMap.newKeySet();

    /**
     * @param supervisor renews windows and leases
     * @param observer learns of the end of each delivery
     * @param backoff how long a failed delivery stays away
     * @param clock monotonic, in nanoseconds
     * @param random from 0 inclusive to 1 exclusive
     */
    public Deliveries(
            RenewalSupervisor supervisor,
            DeliveryObserver observer,
            ReturnBackoff backoff,
            LongSupplier clock,
            DoubleSupplier random) {
        this.supervisor = supervisor;
        this.observer = observer;
        this.backoff = backoff;
        this.clock = clock;
        this.random = random;
    }

    /** Renews deliveries from now on, before any handler has a thread for them. */
    public void begin(Collection<Delivery> received) {
        for (Delivery delivery : received) {
            delivery.begin(supervisor.start(delivery.subscription(), delivery.receiptHandle(), delivery.receivedAt()));
            inFlight.add(delivery);
        }
    }

    /**
     * Does what was decided on a delivery that has left its listener. One on which nothing was decided failed before it
     * was claimed: it is returned with backoff.
     *
     * @return whether the message is to be deleted; it is renewed on until that is confirmed
     */
    public boolean settle(Delivery delivery) {
        return settle(delivery, backoff.after(delivery.receiveCount(), random.getAsDouble()));
    }

    /**
     * Does what was decided on a delivery whose listener is stopping. One on which nothing was decided is made visible at
     * once, for other consumers.
     *
     * @return whether the message is to be deleted; it is renewed on until that is confirmed
     */
    public boolean settleWhileStopping(Delivery delivery) {
        return settle(delivery, Duration.ZERO);
    }

    private boolean settle(Delivery delivery, Duration undecidedDelay) {
        if (!delivery.beginSettling()) {
            return false;
        }
        Disposition disposition = delivery.disposition();
        Disposition decided = disposition == null ? Disposition.returnAfter(undecidedDelay) : disposition;
        switch (decided.kind()) {
            case ACKNOWLEDGE -> {
                return true;
            }
            case RETURN -> {
                returnAfter(delivery, decided.delay());
                inFlight.remove(delivery);
            }
            case ABANDON -> end(delivery);
        }
        return false;
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
        end(delivery);
    }

    /** The queue has refused the delete: the message will come again, as a duplicate. */
    public void acknowledgementFailed(Delivery delivery) {
        log.warn("Deleting {} failed; it may be delivered again, as a duplicate", delivery);
        end(delivery);
    }

    /**
     * Ends what is left of a subscription whose listener has stopped. Handlers that are still running are interrupted;
     * those that heed it within a moment have their claims released and their messages returned, before their threads and
     * the database connections go. The others' claims end with their leases.
     */
    public void abandonAll(Subscription subscription) {
        List<Delivery> abandoned = inFlight.stream()
                .filter(delivery -> delivery.subscription().equals(subscription))
                .toList();
        abandoned.forEach(Delivery::abandon);
        LastWait.forAll(abandoned, subscription);
        for (Delivery delivery : abandoned) {
            if (delivery.left().isDone()) {
                settleWhileStopping(delivery);
            }
            delivery.beginSettling();
            end(delivery);
        }
    }

    private static void returnAfter(Delivery delivery, Duration delay) {
        log.debug("Returning {} after {}", delivery, delay);
        delivery.renewal().returnAfter(delay).exceptionally(failure -> {
            log.warn("Returning {} failed; it will be visible when its window ends", delivery, failure);
            return null;
        });
    }

    /** Ends a delivery that was not returned. Only those are measured: a storm of quick failures would hide the slow. */
    private void end(Delivery delivery) {
        delivery.renewal().stop();
        // A delete may be confirmed after the listener has stopped.
        if (inFlight.remove(delivery) && delivery.wasHandled()) {
            observer.delivered(delivery.subscription(), Duration.ofNanos(clock.getAsLong() - delivery.receivedAt()));
        }
    }
}
