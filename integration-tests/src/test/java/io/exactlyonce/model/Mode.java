package io.exactlyonce.model;

/** What the handler's effects are, and what becomes of a key in doubt. */
enum Mode {
    /** Effects elsewhere; a key in doubt is run again, and told. The handler asks {@code ensureHeld()} first. */
    RERUN,
    /** Effects elsewhere; a key in doubt is parked. */
    PARK,
    /** Effects in a transaction of the handler's own that called {@code fence()}; a key in doubt is run again, and told. */
    FENCED,
    /** Effects in the transaction that completes the key, which writes its row only then. */
    DATABASE,
    /** The message's listener has its effects in such a transaction, its duplicate's has them elsewhere, as with {@link #RERUN}. */
    MIXED,
    /** As {@link #RERUN}, but message and duplicate have one key and different contents, whose fingerprints differ. */
    OTHER_CONTENT,
    /** As {@link #RERUN}, with {@code maxAttempts} of two: the attempt that throws as the second one parks the key. */
    LIMITED
}
