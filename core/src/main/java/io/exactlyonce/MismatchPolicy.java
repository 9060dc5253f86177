package io.exactlyonce;

/** Policy for a message whose key is completed for other content: another payload, or another fingerprint. */
public enum MismatchPolicy {
    /**
     * The property {@code exactly-once.claim.on-mismatch} decides; its default is {@link #REFUSE}. Only annotations can
     * have this value. Properties must have one of the other values.
     */
    AS_CONFIGURED,
    /** The message is returned, and ends in the dead-letter queue, because its sender used one key for two actions. */
    REFUSE,
    /** The message is acknowledged as a duplicate, and logged at WARN. */
    WARN,
    /** The message is acknowledged as a duplicate. Contents are not compared. */
    OFF
}
