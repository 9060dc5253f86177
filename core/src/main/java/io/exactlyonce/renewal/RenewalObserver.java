package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;

/** Observes renewals. Called by the threads that renew: it must not block. */
public interface RenewalObserver {

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

    /** Called after each attempt at each delivery. */
    default void renewed(Subscription subscription, Target target, Result result) {}

    /** A claim is no longer held by its delivery, or has expired: called after {@link Result#LOST} of its lease. */
    default void claimLost(Subscription subscription, ClaimKey key) {}

    /** A handler ran longer than its listener's timeout, and was interrupted. */
    default void timedOut(Subscription subscription) {}

    /** No renewal could be sent for a while: the JVM or its machine was paused. */
    default void paused(Duration length) {}
}
