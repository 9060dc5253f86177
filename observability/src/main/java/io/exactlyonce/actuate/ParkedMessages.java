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
 * Remembers in which queue the message of a parked key is. An operator who releases the key then knows whether SQS
 * redelivers the message, or whether it must be redriven.
 *
 * <p>Remembers at most a thousand keys, and only messages that this instance received.
 */
public final class ParkedMessages implements DeliveryEvent.SelectiveObserver {

    private static final int MOST = 1_000;

    /** Where a message is. The endpoint's JSON contains these names, so they must not change. */
    enum Place {
        /** This instance has the message. */
        IN_FLIGHT,
        /** The message is in its queue, perhaps invisible. */
        IN_QUEUE,
        /** The message has reached {@code maxReceiveCount}, so SQS moves it to the dead-letter queue. */
        DEAD_LETTER_QUEUE
    }

    /**
     * Where the message of a parked key was seen last.
     *
     * @param queue the listener's queue
     * @param visibleAt when the message becomes visible. SQS then redelivers it, or moves it to the dead-letter queue.
     *     {@code null} while this instance has the message
     * @param text a sentence for the operator
     */
    record Seen(Place place, String queue, @Nullable Instant visibleAt, String text) {}

    private final InstantSource clock;

    /** Each access is synchronized on this map. A full map drops its oldest entry. */
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

    /** Returns where the key's message is; {@code null} if unknown. */
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
