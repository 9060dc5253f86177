package io.exactlyonce.claim;

/**
 * The stored status of a key. Nothing is written when a lease expires. So the status of a key whose lease has expired
 * is still {@code HELD}, although the key can be claimed (its {@link KeyState.Status} is {@code FREE}).
 */
public enum KeyStatus {
    /**
     * A claim holds the key, or has held it until its lease expired. Both have one status, because nothing is written
     * when a lease expires.
     */
    HELD,
    /** The key's effect has happened. */
    COMPLETED,
    /** The last claim of the key was released. */
    RELEASED,
    /** The key waits for an operator's decision. */
    PARKED
}
