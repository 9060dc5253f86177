package io.exactlyonce.observed;

import java.util.Locale;

/**
 * The outcome of a claim in observe mode, in which handlers do not wait for claims. Each observed delivery counts as
 * one outcome when the claim is recorded. If another instance takes the key over before the handler ends, the delivery
 * counts as an {@link #OVERLAP}, too.
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

    /**
     * Returns a text that continues a sentence about a handler: the observation, and the difference in enforce mode.
     */
    String story() {
        return story;
    }
}
