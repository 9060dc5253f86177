package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;

/** An event of renewals. It is published by the threads that renew, so observers must not block. */
public sealed interface RenewalEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /**
     * Observes each event of renewals. A new event adds a method here, so that every observer must handle it to
     * compile.
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
     * An attempt to renew a visibility timeout or lease ended, or a visibility timeout or lease was lost without an
     * attempt.
     */
    record Renewed(Subscription subscription, Target target, Result result) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.renewed(this);
        }
    }

    /** A claim no longer holds its key, or has expired. This event follows {@link Result#LOST} of its lease. */
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
