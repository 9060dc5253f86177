package io.exactlyonce.claim;

/** How a key stands, for deliveries that wait for it. */
public enum KeyState {
    /** The next claim acquires it: it was never claimed, its claim was released, or its claim's lease is over. */
    FREE,
    /** A claim holds it. */
    HELD,
    /** Its effect has happened. */
    COMPLETED,
    /** It waits for a person's decision. */
    PARKED
}
