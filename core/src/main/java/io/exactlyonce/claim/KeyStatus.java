package io.exactlyonce.claim;

/**
 * The status of a key as its last write left it, and as stores keep it. {@link KeyState.Status} is the state that other
 * claims find.
 */
public enum KeyStatus {
    /** A claim holds the key, until its lease expires and another claim takes the key over. */
    HELD,
    /** The key's effect has happened. */
    COMPLETED,
    /** The last claim of the key was released. */
    RELEASED,
    /** The key waits for an operator's decision. */
    PARKED
}
