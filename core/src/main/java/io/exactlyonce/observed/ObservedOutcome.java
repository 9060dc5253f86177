package io.exactlyonce.observed;

import java.util.Locale;

/** The outcome of a claim that is observed beside a handler. Each observable delivery counts as one of these. */
public enum ObservedOutcome {
    /** The key was acquired: enforce mode would also have called the handler, not in doubt. */
    ALONE("ran alone"),
    /** The key was completed: the handler would not have been called. */
    DUPLICATE("ran although its effect had happened: it would not have been called"),
    /** Another handler of the key was running: this one would have waited for it. */
    OVERLAP("ran beside another handler of its key: one of them would have waited for the other"),
    /** An earlier handler of the key had died: the key would have been in doubt, or parked or reconciled. */
    TAKEOVER("ran after a handler that never reported an outcome: its claim would have been in doubt"),
    /**
     * The key was completed for another payload, or a handler was running for it: the message would have been refused.
     */
    MISMATCH("ran although its key belongs to another payload: it would have been refused, unless "
            + "on-mismatch allows it"),
    /** The key was parked: the message would have been returned. */
    PARKED("ran although its key is parked: it would not have been called");

    private final String story;

    ObservedOutcome(String story) {
        this.story = story;
    }

    /** Returns its name for meters and the endpoint. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the observation, and the outcome in enforce mode, as the rest of a sentence about a handler. */
    String story() {
        return story;
    }
}
