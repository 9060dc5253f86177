package io.exactlyonce.delivery;

import io.exactlyonce.renewal.Renewal;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The deliveries that are renewed, and the two ways out: made visible again, or neither renewed nor returned. */
public final class InFlightDeliveries {

    private static final Logger log = LoggerFactory.getLogger(InFlightDeliveries.class);

    private final Set<Delivery> deliveries = ConcurrentHashMap.newKeySet();
    private final DeliveryObserver observer;
    private final NanoClock clock;

    public InFlightDeliveries(DeliveryObserver observer, NanoClock clock) {
        this.observer = observer;
        this.clock = clock;
    }

    public void add(Delivery delivery) {
        if (deliveries.add(delivery)) {
            observer.inFlight(delivery.subscription(), 1);
        }
    }

    public List<Delivery> of(Subscription subscription) {
        return deliveries.stream()
                .filter(delivery -> delivery.subscription().equals(subscription))
                .toList();
    }

    /** Makes a delivery visible after a delay. It is not measured: a storm of quick failures would hide the slow. */
    public void returnAfter(Delivery delivery, Duration delay) {
        log.debug("Returning {} after {}", delivery, delay);
        delivery.renewal().returnAfter(delay).exceptionally(failure -> {
            log.warn("Returning {} failed; it will be visible when its window ends", delivery, failure);
            return null;
        });
        remove(delivery);
    }

    /** Makes deliveries of one listener visible together. */
    public void returnAll(Map<Delivery, Duration> delays) {
        log.debug("Returning {}", delays);
        Map<Renewal, Duration> renewals = new LinkedHashMap<>();
        delays.forEach((delivery, delay) -> renewals.put(delivery.renewal(), delay));
        Renewal.returnAll(renewals).exceptionally(failure -> {
            log.warn("Returning {} messages failed; they are visible when their windows end", delays.size(), failure);
            return null;
        });
        delays.keySet().forEach(this::remove);
    }

    private void remove(Delivery delivery) {
        leave(delivery);
        delivery.returned();
    }

    /** Returns whether it was in flight until now. */
    private boolean leave(Delivery delivery) {
        boolean left = deliveries.remove(delivery);
        if (left) {
            Telling.of(delivery, () -> observer.inFlight(delivery.subscription(), -1));
        }
        return left;
    }

    /** Has a message deleted whose pipeline has ended; it is renewed on until that is confirmed. */
    public void delete(Delivery delivery) {
        try {
            delivery.delete();
        } catch (RuntimeException failure) {
            log.warn("Deleting {} failed; it may be delivered again, as a duplicate", delivery, failure);
            end(delivery);
        }
    }

    /** Ends a delivery that was not returned. */
    public void end(Delivery delivery) {
        delivery.renewal().stop();
        // A delete may be confirmed after the listener has stopped.
        if (leave(delivery) && delivery.wasHandled()) {
            Duration taken = Duration.ofNanos(clock.nanoTime() - delivery.receivedAt());
            Telling.of(delivery, () -> observer.delivered(delivery.subscription(), taken));
        }
        delivery.end();
    }

    /** Ends a delivery that a crash has hit: it is neither released nor returned nor deleted. Window and lease end by themselves. */
    public void abandon(Delivery delivery) {
        if (!delivery.hasBegun()) {
            return;
        }
        boolean isAbandoned = delivery.crash();
        end(delivery);
        if (isAbandoned) {
            observer.settled(delivery, delivery.state());
        }
    }
}
