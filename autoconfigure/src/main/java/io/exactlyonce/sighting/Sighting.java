package io.exactlyonce.sighting;

/** What a handler's claim has met, had it needed one. Each delivery that can be observed is counted as one of these. */
public enum Sighting {
    /** Nothing: enforcing would have called the handler as well, and told it of no doubt. */
    ALONE("alone", "ran alone"),
    /** The key was completed: the handler would not have been called. */
    DUPLICATE("duplicate", "ran although its effect had happened: it would not have been called"),
    /** Another handler of the key was running: this one would have waited for it. */
    OVERLAP("overlap", "ran beside another handler of its key: one of them would have waited for the other"),
    /** An earlier handler of the key had vanished: this one would have been told, or the key parked or reconciled. */
    TAKEOVER("takeover", "ran after a handler that never told how it ended: it would have been told of the doubt"),
    /** The key was completed for another payload: the message would have been refused. */
    MISMATCH("mismatch", "ran although its key was completed for another payload: it would have been refused"),
    /** The key was parked: the message would have been returned. */
    PARKED("parked", "ran although its key is parked: it would not have been called");

    private final String tag;
    private final String story;

    Sighting(String tag, String story) {
        this.tag = tag;
        this.story = story;
    }

    /** Returns whether enforcing would have prevented what may be a second effect. */
    boolean isDoubleEffect() {
        return this == DUPLICATE || this == OVERLAP;
    }

    /** Returns its name for meters and the endpoint. */
    public String tag() {
        return tag;
    }

    /** Returns what happened, and what would have happened otherwise, as the rest of a sentence about a handler. */
    String story() {
        return story;
    }
}
