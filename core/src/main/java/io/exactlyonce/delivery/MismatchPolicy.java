package io.exactlyonce.delivery;

/** Policy for a message whose key is completed for another payload or fingerprint. */
public enum MismatchPolicy {
    /** It is returned, and ends in the dead-letter queue: its sender used one key for two actions. */
    REFUSE,
    /** It is acknowledged as a duplicate, with a warning. */
    WARN,
    /** Payloads are not compared. */
    OFF
}
