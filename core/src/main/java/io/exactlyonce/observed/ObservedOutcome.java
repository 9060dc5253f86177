package io.exactlyonce.observed;

import java.util.Locale;

/**
 * The state of a key in the claim store when a handler was observed. Each observed delivery counts once. If another
 * instance acquires the key before the handler ends, the delivery also counts as an {@link #OVERLAP}.
 */
public enum ObservedOutcome {
    /** The key was acquired. Enforce mode would also have called the handler, with a claim that is not in doubt. */
    ALONE("ran alone"),
    /** The key was completed. In enforce mode, the handler would not have been called. */
    DUPLICATE("ran although its effect had happened: it would not have been called"),
    /**
     * Another handler of the key was running. In enforce mode, the later of the two handlers would have waited for the
     * earlier.
     */
    OVERLAP("ran beside another handler of its key: one of them would have waited for the other"),
    /**
     * An earlier handler of the key had not reported an outcome, for example because its worker died. In enforce mode,
     * the key would have been in doubt, and the listener's policy for keys in doubt would have decided.
     */
    TAKEOVER("ran after a handler that never reported an outcome: its claim would have been in doubt"),
    /**
     * The key was completed for another payload, or a handler was running for another payload. In enforce mode, the
     * message would have been refused.
     */
    MISMATCH("ran although its key belongs to another payload: it would have been refused, unless "
            + "on-mismatch allows it"),
    /** The key was parked. In enforce mode, the message would have been returned. */
    PARKED("ran although its key is parked: it would not have been called");

    private final String story;

    ObservedOutcome(String story) {
        this.story = story;
    }

    /** Returns the outcome's name for meters and the endpoint. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the words that follow {@code The handler of LISTENER for KEY} in the log. */
    String story() {
        return story;
    }
}
