package io.exactlyonce.delivery;

/** What becomes of a message whose key is completed for another payload, or for other content that its fingerprint names. */
public enum MismatchPolicy {
    /** It is returned, and ends in the dead-letter queue: its sender has used one key for two things. */
    REFUSE,
    /** It is acknowledged as a duplicate, with a warning. */
    WARN,
    /** Payloads are not compared. */
    OFF
}
