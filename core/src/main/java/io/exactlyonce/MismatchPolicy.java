package io.exactlyonce;

/**
 * Policy for a message that has the same key as a completed message, but other content. By default the bodies are
 * compared. {@link ExactlyOnceListener#fingerprint()} can select other content.
 */
public enum MismatchPolicy {
    /**
     * The property {@code exactly-once.claim.on-mismatch} decides; its default is {@link #REFUSE}. This is
     * the default of the annotation's {@code onMismatch}, and properties cannot have this value.
     */
    AS_CONFIGURED,
    /**
     * The message is returned to its queue until it ends in the dead-letter queue. Its sender used one key for two
     * actions.
     */
    REFUSE,
    /** The message is acknowledged as a duplicate, and logged at WARN. */
    WARN,
    /** The message is acknowledged as a duplicate. Contents are not compared. */
    OFF
}
