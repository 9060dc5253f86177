package io.exactlyonce.model;

/** What the handler's effects are, and what becomes of a key in doubt. */
enum Mode {
    /** Effects elsewhere; a key in doubt is run again, and told. The handler asks {@code ensureHeld()} first. */
    RERUN,
    /** Effects elsewhere; a key in doubt is parked. */
    PARK,
    /** Effects in a transaction of the handler's own that called {@code fence()}; a key in doubt is run again, and told. */
    FENCED,
    /** Effects in the transaction that claims and completes the key. */
    DATABASE
}
