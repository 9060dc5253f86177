package io.exactlyonce.chaos.dynamodb;

import io.exactlyonce.chaos.history.Fault;

/** How the service can be in trouble. */
public enum ServiceFault {

    /** It does not answer: its process is frozen, and its connections stay open. */
    FROZEN(Fault.DATABASE_RESTART),

    /** It refuses a part of all requests, and in those that it takes a part of the statements and keys. */
    THROTTLED(Fault.THROTTLING),

    /** It acts, and a part of its answers is lost with their connections: the SDK repeats the requests in silence. */
    ANSWERS_LOST(Fault.ANSWERS_LOST),

    /** Its front ends differ by up to two seconds, the {@code clock-error} that takeovers allow for. */
    DATES_DIFFER(Fault.DATE_FAULT),

    /** A proxy takes the dates from its answers. */
    DATES_MISSING(Fault.DATE_FAULT),

    /** Its dates cannot be read. */
    DATES_UNREADABLE(Fault.DATE_FAULT);

    private final Fault recorded;

    ServiceFault(Fault recorded) {
        this.recorded = recorded;
    }

    /** Returns what the history calls it. */
    public Fault recorded() {
        return recorded;
    }
}
