package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;

/**
 * An event of a renewal, such as a failure or a loss. Observers are called on the threads that renew, so they must not
 * block.
 */
public sealed interface RenewalEvent {

    /** Calls the observer's method for this event. */
    void passTo(Observer observer);

    /**
     * Receives events. The methods have no defaults. So if a kind of event is added, each observer must handle it to
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
        /** The visibility timeout or lease is lost. No further renewal is tried. */
        LOST
    }

    /** A renewal has succeeded or failed, or a visibility timeout or lease is lost. */
    record Renewed(Subscription subscription, Target target, Result result) implements RenewalEvent {

        @Override
        public void passTo(Observer observer) {
            observer.renewed(this);
        }
    }

    /**
     * A claim is lost: it no longer holds its key, or its lease has expired. A {@link Renewed} event with {@link
     * Result#LOST} is published first.
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
