package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;

/** An event of renewals. The threads that renew call the observers, so observers must not block. */
public sealed interface RenewalEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /**
     * Observes each event of renewals. The interface has no default methods, so an observer that lacks a method for a
     * new event does not compile.
     */
    interface Observer {

        void renewed(Renewed event);

        void claimLost(ClaimLost event);

        void timedOut(TimedOut event);

        void paused(Paused event);
    }

    /** The renewed resource. */
    enum Target {
        WINDOW,
        LEASE
    }

    /** How a renewal ended. */
    enum Result {
        SUCCEEDED,
        /** The attempt failed, and will be repeated. */
        FAILED,
        /** The visibility timeout or lease is lost, and no attempt follows. */
        LOST
    }

    /**
     * The result of an attempt to renew a visibility timeout or lease, or the loss of a visibility timeout or lease
     * without an attempt.
     */
    record Renewed(Subscription subscription, Target target, Result result) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.renewed(this);
        }
    }

    /**
     * A claim no longer holds its key, or its lease has expired. This event follows the lease's event with
     * {@link Result#LOST}.
     */
    record ClaimLost(Subscription subscription, ClaimKey key) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.claimLost(this);
        }
    }

    /** A handler ran longer than the listener's timeout, and was interrupted. */
    record TimedOut(Subscription subscription, ClaimKey key) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.timedOut(this);
        }
    }

    /** No renewal was sent for a while, because the JVM or its machine was paused. */
    record Paused(Duration length) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.paused(this);
        }
    }
}
