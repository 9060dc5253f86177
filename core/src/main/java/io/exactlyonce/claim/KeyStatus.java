package io.exactlyonce.claim;

/**
 * The stored status of a key. In contrast, {@link KeyState.Status} also depends on the time: when a lease expires, the
 * status is still {@code HELD}, but the state becomes {@code FREE}.
 */
public enum KeyStatus {
    /** A claim holds the key. This status stays when the lease expires, because nothing is written then. */
    HELD,
    /** The key's effect has happened. */
    COMPLETED,
    /** The last claim of the key was released. */
    RELEASED,
    /** The key waits for an operator's decision. */
    PARKED
}
