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
 * An event of deliveries. Events of renewals are {@link RenewalEvent}s. {@link Subscription#levels} counts deliveries that are in flight,
 * wait, or are being recorded.
 */
public sealed interface DeliveryEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /**
     * Observes each event of deliveries and renewals. A new event is a new method here, so no observer compiles before
     * it decides.
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

    /** Observes the events whose methods it overrides. All others, and new ones, do not concern it. */
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
     * @param receiveCount how often SQS has delivered it, from 1
     * @param age since it was sent, both by the queue's clock, to the second; {@code null} if unknown
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

    /** A handler ended, well or not; {@code elapsed} is its own time. */
    record Handled(Subscription subscription, Duration elapsed) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.handled(this);
        }
    }

    /** A handler succeeded, but another worker had taken its key over before that could be recorded. */
    record CompletionLost(Subscription subscription) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.completionLost(this);
        }
    }

    /** A key was parked: its handler failed for good, or its reconciler left it to an operator. */
    record Parked(Subscription subscription, ClaimKey key) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.parked(this);
        }
    }

    /**
     * A delivery has left its listener, and it is decided what becomes of it.
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
     * A delivery whose handler was called came to its end; {@code elapsed} runs from its receive until its delete was
     * confirmed, or until it was abandoned: the time that counts against the visibility timeout. Deliveries that were
     * returned are left out.
     *
     * @param window the visibility timeout of the receive
     */
    record Delivered(Subscription subscription, VisibilityWindow window, Duration elapsed) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.delivered(this);
        }
    }

    /** A delivery that was not tried has one receive left, or none, before the dead-letter queue. */
    record FinalReceive(Subscription subscription) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.finalReceive(this);
        }
    }

    /**
     * A delivery's message has no key.
     *
     * @param policy by which the delivery goes on
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
