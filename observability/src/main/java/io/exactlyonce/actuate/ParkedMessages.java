package io.exactlyonce.actuate;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.queue.Subscription;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers where this instance saw the message of a parked key last, for at most a thousand keys. While no such key
 * is remembered, a delivery costs only the read of a field.
 */
public final class ParkedMessages implements DeliveryEvent.SelectiveObserver {

    private static final int MOST = 1_000;

    /** The place of a message. The names are an API. */
    enum Place {
        /** This instance has the message. */
        IN_FLIGHT,
        /** The message is in its queue, perhaps invisible. */
        IN_QUEUE,
        /** The message has no receive left, so SQS moves it instead of delivering it. */
        DEAD_LETTER_QUEUE
    }

    /**
     * The message of a key that was parked.
     *
     * @param queue the queue that delivered the message
     * @param visibleAt the time from which the queue delivers the message, or moves it to the dead-letter queue;
     *     {@code null} while the message is in flight
     * @param text a sentence for the operator
     */
    record Seen(Place place, String queue, @Nullable Instant visibleAt, String text) {}

    private final InstantSource clock;

    /** Each access is synchronized on this map. If the map is full, the oldest entry is removed. */
    private final Map<ClaimKey, Seen> messages = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ClaimKey, Seen> eldest) {
            return size() > MOST;
        }
    };

    private volatile boolean isEmpty = true;

    public ParkedMessages() {
        this(InstantSource.system());
    }

    ParkedMessages(InstantSource clock) {
        this.clock = clock;
    }

    /**
     * Returns the last place of a key's message; {@code null} if this instance has not seen such a message, or no
     * longer remembers it.
     */
    @Nullable Seen of(ClaimKey key) {
        synchronized (messages) {
            return messages.get(key);
        }
    }

    @Override
    public void parked(DeliveryEvent.Parked event) {
        inFlight(event.subscription(), event.key());
    }

    @Override
    public void claimed(DeliveryEvent.Claimed event) {
        if (event.outcome().kind() == ClaimOutcome.Kind.PARKED) {
            inFlight(event.subscription(), event.key());
        } else if (!isEmpty) {
            synchronized (messages) {
                messages.remove(event.key());
                isEmpty = messages.isEmpty();
            }
        }
    }

    private void inFlight(Subscription subscription, ClaimKey key) {
        put(
                key,
                new Seen(
                        Place.IN_FLIGHT,
                        subscription.queue(),
                        null,
                        "This instance has the message of queue '%s'.".formatted(subscription.queue())));
    }

    private void put(ClaimKey key, Seen seen) {
        synchronized (messages) {
            messages.remove(key);
            messages.put(key, seen);
            isEmpty = false;
        }
    }

    @Override
    public void settled(DeliveryEvent.Settled event) {
        Delivery delivery = event.delivery();
        if (isEmpty
                || event.state() != DeliveryState.RETURNED
                || !delivery.attempt().hasKey()
                || !(delivery.disposition() instanceof Disposition.Return returned)) {
            return;
        }
        ClaimKey key = delivery.attempt().key();
        if (of(key) != null) {
            put(key, returned(delivery, clock.instant().plus(returned.delay()).truncatedTo(ChronoUnit.MILLIS)));
        }
    }

    private static Seen returned(Delivery delivery, Instant visibleAt) {
        Integer most = delivery.settings().maxReceiveCount();
        String queue = delivery.subscription().queue();
        return most != null && delivery.receiveCount() >= most
                ? new Seen(
                        Place.DEAD_LETTER_QUEUE,
                        queue,
                        visibleAt,
                        "The message of queue '%s' has no receive left: SQS moves it to the dead-letter queue. Redrive it."
                                .formatted(queue))
                : new Seen(
                        Place.IN_QUEUE,
                        queue,
                        visibleAt,
                        "The message is in queue '%s', which delivers it from %s on.".formatted(queue, visibleAt));
    }
}
