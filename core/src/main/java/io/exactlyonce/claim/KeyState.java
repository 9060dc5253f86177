package io.exactlyonce.claim;

import org.jspecify.annotations.Nullable;

/**
 * The state of a key, for deliveries that wait for the key.
 *
 * @param fingerprint the fingerprint of the payload for which a completed key was claimed. {@code null} if the
 *     fingerprint is not known, or if the key is not completed
 */
public record KeyState(Status status, @Nullable String fingerprint) {

    public static final KeyState FREE = new KeyState(Status.FREE, null);
    public static final KeyState HELD = new KeyState(Status.HELD, null);
    public static final KeyState PARKED = new KeyState(Status.PARKED, null);

    public enum Status {
        /**
         * The next claim acquires the key: the key was never claimed, its claim was released, or the claim's lease has
         * expired.
         */
        FREE,
        /** A claim holds the key. */
        HELD,
        /** The key's effect has happened. */
        COMPLETED,
        /** The key waits for an operator's decision. */
        PARKED
    }

    /** Drops the fingerprint if the key is not completed, because the next claim may be for another payload. */
    public KeyState {
        fingerprint = status == Status.COMPLETED ? fingerprint : null;
    }

    public static KeyState completed(@Nullable String fingerprint) {
        return new KeyState(Status.COMPLETED, fingerprint);
    }
}
