package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/**
 * The state of a key, for deliveries that wait for it.
 *
 * @param fingerprint of the payload that a completed key was claimed for; {@code null} if it is not known, and for
 *     keys that are not completed
 */
public record KeyState(Status status, @Nullable String fingerprint) {

    public static final KeyState FREE = new KeyState(Status.FREE, null);
    public static final KeyState HELD = new KeyState(Status.HELD, null);
    public static final KeyState PARKED = new KeyState(Status.PARKED, null);

    public enum Status {
        /**
         * The next claim acquires the key: it was never claimed, its claim was released, or the claim's lease is over.
         */
        FREE,
        /** A claim holds the key. */
        HELD,
        /** The effect of the key happened. */
        COMPLETED,
        /** The key waits for an operator's decision. */
        PARKED
    }

    /** Drops the fingerprint of a key that is not completed, because the next claim may be for another payload. */
    public KeyState {
        fingerprint = status == Status.COMPLETED ? fingerprint : null;
    }

    public static KeyState completed(@Nullable String fingerprint) {
        return new KeyState(Status.COMPLETED, fingerprint);
    }
}
