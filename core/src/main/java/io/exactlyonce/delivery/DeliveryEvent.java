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
 * An event of a delivery, for example for metrics. Renewals have their own events ({@link RenewalEvent}). No event
 * contains the number of deliveries in flight (see {@link Subscription#levels}).
 */
public sealed interface DeliveryEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /**
     * Observes all events of deliveries and renewals. The method of each event is abstract. So if an event is added, no
     * observer compiles until it handles the new event.
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

    /** Has an empty method for each event, so that an observer overrides only the methods that it needs. */
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
     * @param age the time since the message was sent, by the queue's clock, in whole seconds; {@code null} if unknown
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

    /** The store answered the claim of a key. */
    record Claimed(Subscription subscription, ClaimKey key, ClaimOutcome outcome) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.claimed(this);
        }
    }

    /**
     * A handler has ended, with or without success.
     *
     * @param elapsed how long the handler ran
     */
    record Handled(Subscription subscription, Duration elapsed) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.handled(this);
        }
    }

    /** A handler succeeded, but another worker claimed the key before the success was recorded. */
    record CompletionLost(Subscription subscription) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.completionLost(this);
        }
    }

    /**
     * A key was parked. Either its handler failed or was stopped, and must not be called again. Or its reconciler left
     * the decision to an operator.
     */
    record Parked(Subscription subscription, ClaimKey key) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.parked(this);
        }
    }

    /**
     * A delivery has left its listener's pipeline.
     *
     * @param state the state at this time: {@code DELETING}, {@code WAITING}, {@code RETURNED} or {@code ABANDONED}
     */
    record Settled(Delivery delivery, DeliveryState state) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.settled(this);
        }
    }

    /** SQS has confirmed the delete of the message. */
    record Acknowledged(Delivery delivery) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.acknowledged(this);
        }
    }

    /**
     * A handler was called, and its message is now deleted or abandoned. Shows how much of the visibility timeout was
     * needed.
     *
     * @param elapsed from the receive until SQS confirmed the delete, or until the delivery was abandoned
     * @param window the visibility timeout of the message when it was received
     */
    record Delivered(Subscription subscription, VisibilityWindow window, Duration elapsed) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.delivered(this);
        }
    }

    /**
     * A delivery waits for the owner of its key, but its message has at most one receive left before the dead-letter
     * queue. Its handler was not called.
     */
    record FinalReceive(Subscription subscription) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.finalReceive(this);
        }
    }

    /**
     * A message has no key.
     *
     * @param policy what the listener does with such messages
     */
    record KeyMissing(Subscription subscription, MissingKeyPolicy policy) implements DeliveryEvent {

        @Override
        public void passTo(Observer observer) {
            observer.keyMissing(this);
        }
    }

    /**
     * An attempt failed on the last receive of its message, so SQS moves the message to its dead-letter queue.
     *
     * @param receiveCount how often SQS has delivered the message
     * @param maxReceiveCount the queue's limit of receives
     * @param deadLetterQueue the name of the dead-letter queue; {@code null} if unknown
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
