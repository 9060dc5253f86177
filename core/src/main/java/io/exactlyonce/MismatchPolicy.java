package io.exactlyonce;

/** Policy for a message whose key is completed for other content: another payload, or another fingerprint. */
public enum MismatchPolicy {
    /**
     * The property {@code exactly-once.claim.on-mismatch} decides, which is {@link #REFUSE} by default. Only for the
     * annotation: the property itself names one of the others.
     */
    AS_CONFIGURED,
    /** The message is returned, and ends in the dead-letter queue: its sender used one key for two actions. */
    REFUSE,
    /** The message is acknowledged as a duplicate, with a warning. */
    WARN,
    /** The message is acknowledged as a duplicate. Contents are not compared. */
    OFF
}
