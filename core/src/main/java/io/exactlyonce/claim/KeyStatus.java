package io.exactlyonce.claim;

/**
 * The stored status of a key. If a lease expires, its key is still stored as {@code HELD}, although the
 * {@link KeyState.Status} of the key is now {@code FREE}.
 */
public enum KeyStatus {
    /** A claim holds the key, or its lease has expired. Nothing is written when a lease expires. */
    HELD,
    /** The key's effect has happened. */
    COMPLETED,
    /** The last claim of the key was released. */
    RELEASED,
    /** The key waits for an operator's decision. */
    PARKED
}
