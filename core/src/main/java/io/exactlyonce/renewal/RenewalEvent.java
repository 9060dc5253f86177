package io.exactlyonce.renewal;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;

/** An event of renewals. It is published by the threads that renew, so observers must not block. */
public sealed interface RenewalEvent {

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

    /** An attempt to renew a delivery's visibility timeout or lease ended, or either was lost without one. */
    record Renewed(Subscription subscription, Target target, Result result) implements RenewalEvent {}

    /** A claim is no longer held by its delivery, or has expired. It follows {@link Result#LOST} of its lease. */
    record ClaimLost(Subscription subscription, ClaimKey key) implements RenewalEvent {}

    /** A handler ran longer than its listener's timeout, and was interrupted. */
    record TimedOut(Subscription subscription, ClaimKey key) implements RenewalEvent {}

    /** No renewal could be sent for a while: the JVM or its machine was paused. */
    record Paused(Duration length) implements RenewalEvent {}
}
