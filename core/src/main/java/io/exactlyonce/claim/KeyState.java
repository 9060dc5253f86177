package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/**
 * Tells deliveries that wait for a key whether they can claim it now.
 *
 * @param fingerprint the payload fingerprint of a completed key; {@code null} for other keys, or if it is not known
 */
public record KeyState(Status status, @Nullable String fingerprint) {

    public static final KeyState FREE = new KeyState(Status.FREE, null);
    public static final KeyState HELD = new KeyState(Status.HELD, null);
    public static final KeyState PARKED = new KeyState(Status.PARKED, null);

    public enum Status {
        /** The key can be claimed: it was never claimed, its claim was released, or the lease has expired. */
        FREE,
        /** A claim holds the key. */
        HELD,
        /** The key's effect has happened. */
        COMPLETED,
        /** The key waits for an operator's decision. */
        PARKED
    }

    /** Keeps the fingerprint only if the key is completed. Any other key may next be claimed for another payload. */
    public KeyState {
        fingerprint = status == Status.COMPLETED ? fingerprint : null;
    }

    public static KeyState completed(@Nullable String fingerprint) {
        return new KeyState(Status.COMPLETED, fingerprint);
    }
}
