package io.exactlyonce.claim;

/**
 * The status of a key that its last write left, and that stores keep. {@link KeyState.Status} is the state that the
 * next claim finds. The two differ for a key whose lease has expired: its status is {@code HELD}, and its state is
 * {@code FREE}.
 */
public enum KeyStatus {
    /** A claim holds the key. The status stays when the lease expires, until another claim takes the key over. */
    HELD,
    /** The key's effect has happened. */
    COMPLETED,
    /** The last claim of the key was released. */
    RELEASED,
    /** The key waits for an operator's decision. */
    PARKED
}
