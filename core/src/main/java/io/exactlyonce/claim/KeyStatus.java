package io.exactlyonce.claim;

/**
 * The status that the last write of a key left, as stores keep it. {@link KeyState.Status} is the meaning of a status for other claims.
 */
public enum KeyStatus {
    /** A claim holds the key, until its lease expires and another one takes it over. */
    HELD,
    /** The key's effect has happened. */
    COMPLETED,
    /** The last claim of the key was released. */
    RELEASED,
    /** The key waits for an operator's decision. */
    PARKED
}
