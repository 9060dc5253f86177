package io.exactlyonce.claim;

/** How a key stands, for those who wait for it. */
public enum KeyState {
    /** Whoever claims it acquires it: nobody has claimed it, its claim was released, or its claim's lease is over. */
    FREE,
    /** A claim holds it. */
    HELD,
    /** Its effect has happened. */
    COMPLETED,
    /** It waits for a person's decision. */
    PARKED
}
