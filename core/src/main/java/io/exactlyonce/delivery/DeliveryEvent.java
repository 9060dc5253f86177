package io.exactlyonce.delivery;

import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An event of deliveries. Events of renewals are {@link RenewalEvent}s. {@link Subscription#levels} counts the
 * deliveries that are in flight, wait, or are being recorded.
 */
public sealed interface DeliveryEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /**
     * Observes each event of deliveries and renewals. A new event adds a method here, so that every observer must
     * handle it to compile.
     */
    interface Observer extends DeliveryObserver, RenewalEvent.Observer {

        @Override
        default void on(DeliveryEvent event) {
            event.passTo(this);
        }

        @Override
        default void on(RenewalEvent event) {
            event.passTo(this);
        }

        void received(Received event);

        void claimed(Claimed event);

        void handled(Handled event);

        void completionLost(CompletionLost event);

        void parked(Parked event);

        void settled(Settled event);

        void acknowledged(Acknowledged event);

        void delivered(Delivered event);

        void finalReceive(FinalReceive event);

        void keyMissing(KeyMissing event);

        void lastReceiveFailed(LastReceiveFailed event);
    }

    /** Observes the events whose methods it overrides, and ignores all others. */
    interface SelectiveObserver extends Observer {

        @Override
        default void received(Received event) {}

        @Override
        default void claimed(Claimed event) {}

        @Override
        default void handled(Handled event) {}

        @Override
        default void completionLost(CompletionLost event) {}

        @Override
        default void parked(Parked event) {}

        @Override
        default void settled(Settled event) {}

        @Override
        default void acknowledged(Acknowledged event) {}

        @Override
        default void delivered(Delivered event) {}

        @Override
        default void finalReceive(FinalReceive event) {}

        @Override
        default void keyMissing(KeyMissing event) {}

        @Override
        default void lastReceiveFailed(LastReceiveFailed event) {}

        @Override
        default void renewed(RenewalEvent.Renewed event) {}

        @Override
        default void claimLost(RenewalEvent.ClaimLost event) {}

        @Override
        default void timedOut(RenewalEvent.TimedOut event) {}

        @Override
        default void paused(RenewalEvent.Paused event) {}
    }

    /**
     * A message was received.
     *
     * @param receiveCount how often SQS has delivered the message, from 1
     * @param age the time since the message was sent, by the queue's clock, to the second; {@code null} if unknown
     */
    record Received(
            Subscription subscription,
            int receiveCount,
            @Nullable Duration age) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.received(this);
        }
    }

    /** The store answered a claim. */
    record Claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.claimed(this);
        }
    }

    /**
     * A handler ended, with or without success.
     *
     * @param elapsed how long the handler ran
     */
    record Handled(Subscription subscription, Duration elapsed) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.handled(this);
        }
    }

    /** A handler succeeded, but another worker took the key over before the success was recorded. */
    record CompletionLost(Subscription subscription) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.completionLost(this);
        }
    }

    /** A key was parked: its handler failed finally, or its reconciler left the decision to an operator. */
    record Parked(Subscription subscription, ClaimKey key) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.parked(this);
        }
    }

    /**
     * A delivery has left its listener, and its next state is decided.
     *
     * @param state {@code DELETING}, {@code WAITING}, {@code RETURNED} or {@code ABANDONED}
     */
    record Settled(Delivery delivery, DeliveryState state) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.settled(this);
        }
    }

    /** The queue has confirmed the delete of a delivery's message. */
    record Acknowledged(Delivery delivery) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.acknowledged(this);
        }
    }

    /**
     * A delivery whose handler was called has ended. Returned deliveries are left out.
     *
     * @param elapsed the time from the receive until the delete was confirmed, or until the delivery was abandoned:
     *     the time that counts against the visibility timeout
     * @param window the visibility timeout of the receive
     */
    record Delivered(Subscription subscription, VisibilityWindow window, Duration elapsed) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.delivered(this);
        }
    }

    /** A delivery that was not tried has at most one receive left before the dead-letter queue. */
    record FinalReceive(Subscription subscription) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.finalReceive(this);
        }
    }

    /**
     * The message of a delivery has no key.
     *
     * @param policy decides what happens to the delivery
     */
    record KeyMissing(Subscription subscription, MissingKeyPolicy policy) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.keyMissing(this);
        }
    }

    /**
     * An attempt failed on the last receive of its message: the queue moves the message to its dead-letter queue.
     *
     * @param receiveCount how often SQS has delivered the message
     * @param maxReceiveCount after how many receives SQS moves a message
     * @param deadLetterQueue the name of the dead-letter queue; {@code null} if it is not known
     */
    record LastReceiveFailed(
            Subscription subscription,
            ClaimKey key,
            int receiveCount,
            int maxReceiveCount,
            @Nullable String deadLetterQueue)
            implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.lastReceiveFailed(this);
        }
    }
}
