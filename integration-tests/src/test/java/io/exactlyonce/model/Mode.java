package io.exactlyonce.model;

/** The handler's effects, and the policy for a key in doubt. */
enum Mode {
    /**
     * Effects outside of the claim database. A key in doubt is run again, and its handler is informed. The handler
     * calls {@code ensureHeld()} first.
     */
    RERUN,
    /** Effects outside of the claim database. A key in doubt is parked. */
    PARK,
    /**
     * Effects in a transaction of the handler, which calls {@code fence()}. A key in doubt is run again, and its
     * handler is informed.
     */
    FENCED,
    /**
     * Effects in the transaction that completes the key. The key's row is written only at the end of that transaction.
     */
    DATABASE,
    /**
     * One listener has its effects in the transaction that completes the key. The duplicate's listener has them
     * elsewhere, as with {@link #RERUN}.
     */
    MIXED,
    /**
     * Like {@link #RERUN}, but the message and the duplicate have one key and different contents, so their fingerprints
     * differ.
     */
    OTHER_CONTENT,
    /** Like {@link #RERUN}, with {@code maxAttempts} of two: the second attempt that throws parks the key. */
    LIMITED
}
