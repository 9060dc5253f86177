package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;

/** An event of renewals. It is published by the threads that renew, so observers must not block. */
public sealed interface RenewalEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /** Observes each event of renewals. A new event is a new method here, so no observer compiles before it decides. */
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
        /** Will be tried again. */
        FAILED,
        /** Will not be tried again. */
        LOST
    }

    /** An attempt to renew a visibility timeout or lease ended, or a visibility timeout or lease was lost without an attempt. */
    record Renewed(Subscription subscription, Target target, Result result) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.renewed(this);
        }
    }

    /** A claim is no longer held by its delivery, or has expired. It follows {@link Result#LOST} of its lease. */
    record ClaimLost(Subscription subscription, ClaimKey key) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.claimLost(this);
        }
    }

    /** A handler ran longer than its listener's timeout, and was interrupted. */
    record TimedOut(Subscription subscription, ClaimKey key) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.timedOut(this);
        }
    }

    /** No renewal could be sent for a while: the JVM or its machine was paused. */
    record Paused(Duration length) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.paused(this);
        }
    }
}
