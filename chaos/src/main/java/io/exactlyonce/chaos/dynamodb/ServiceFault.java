package io.exactlyonce.chaos.dynamodb;

import io.exactlyonce.chaos.history.Fault;

/** Faults of the service. */
public enum ServiceFault {

    /** The service does not answer: its process is frozen, and its connections stay open. */
    FROZEN(Fault.DATABASE_RESTART),

    /** The service refuses some requests, and some statements and keys of the other requests. */
    THROTTLED(Fault.THROTTLING),

    /** The service acts, and some answers are lost with their connections. The SDK repeats these requests silently. */
    ANSWERS_LOST(Fault.ANSWERS_LOST),

    /** Clocks of front ends differ by up to two seconds, the {@code clock-error} for which takeovers allow. */
    DATES_DIFFER(Fault.DATE_FAULT),

    /** A proxy removes the dates from answers. */
    DATES_MISSING(Fault.DATE_FAULT),

    /** The dates of answers cannot be read. */
    DATES_UNREADABLE(Fault.DATE_FAULT);

    private final Fault recorded;

    ServiceFault(Fault recorded) {
        this.recorded = recorded;
    }

    /** Returns the fault's name in the history. */
    public Fault recorded() {
        return recorded;
    }
}
