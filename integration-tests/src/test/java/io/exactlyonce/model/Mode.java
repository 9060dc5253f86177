package io.exactlyonce.model;

/** The handler's effects, and the policy for a key in doubt. */
enum Mode {
    /** Effects elsewhere; a key in doubt is run again, with its doubt. The handler calls {@code ensureHeld()} first. */
    RERUN,
    /** Effects elsewhere; a key in doubt is parked. */
    PARK,
    /**
     * Effects in a transaction of the handler that called {@code fence()}; a key in doubt is run again, with its
     * doubt.
     */
    FENCED,
    /** Effects in the transaction that completes the key, which writes its row only then. */
    DATABASE,
    /**
     * The message's listener has its effects in such a transaction, its duplicate's has them elsewhere, as with {@link
     * #RERUN}.
     */
    MIXED,
    /**
     * Like {@link #RERUN}, but message and duplicate have one key and different contents, whose fingerprints differ.
     */
    OTHER_CONTENT,
    /** Like {@link #RERUN}, with {@code maxAttempts} of two: the second attempt that throws parks the key. */
    LIMITED
}
