package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An event of deliveries. Events of renewals are {@link RenewalEvent}s. {@link Subscription#levels} counts deliveries that are in flight,
 * wait, or are being recorded.
 */
public sealed interface DeliveryEvent {

    /**
     * A message was received.
     *
     * @param receiveCount how often SQS has delivered it, from 1
     * @param age since it was sent, both by the queue's clock, to the second; {@code null} if unknown
     */
    record Received(
            Subscription subscription,
            int receiveCount,
            @Nullable Duration age) implements DeliveryEvent {}

    /** The store answered a claim. */
    record Claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) implements DeliveryEvent {}

    /** A handler ended, well or not; {@code elapsed} is its own time. */
    record Handled(Subscription subscription, Duration elapsed) implements DeliveryEvent {}

    /** A handler succeeded, but another worker had taken its key over before that could be recorded. */
    record CompletionLost(Subscription subscription) implements DeliveryEvent {}

    /** A key was parked: its handler failed for good, or its reconciler left it to an operator. */
    record Parked(Subscription subscription, ClaimKey key) implements DeliveryEvent {}

    /**
     * A delivery has left its listener, and it is decided what becomes of it.
     *
     * @param state {@code DELETING}, {@code WAITING}, {@code RETURNED} or {@code ABANDONED}
     */
    record Settled(Delivery delivery, DeliveryState state) implements DeliveryEvent {}

    /** The queue has confirmed the delete of a delivery's message. */
    record Acknowledged(Delivery delivery) implements DeliveryEvent {}

    /**
     * A delivery whose handler was called came to its end; {@code elapsed} runs from its receive until its delete was
     * confirmed, or until it was abandoned: the time that counts against the visibility timeout. Deliveries that were
     * returned are left out.
     *
     * @param window the visibility timeout of the receive
     */
    record Delivered(Subscription subscription, VisibilityWindow window, Duration elapsed) implements DeliveryEvent {}

    /** A delivery that was not tried has one receive left, or none, before the dead-letter queue. */
    record FinalReceive(Subscription subscription) implements DeliveryEvent {}
}
