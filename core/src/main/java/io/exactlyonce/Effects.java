package io.exactlyonce;

/** Says where a handler's effects happen. The library's guarantees depend on this. */
public enum Effects {

    /**
     * The handler calls other systems. One short transaction claims the key before the handler, and another one
     * completes the key after it. If the worker dies between the two transactions, the next attempt sees {@link
     * Claim#isInDoubt()}.
     */
    EXTERNAL,

    /**
     * All of the handler's effects are writes to the PostgreSQL database that stores the claims. One transaction
     * contains the claim, the handler's writes and the completion, and commits all of them or nothing.
     *
     * <p>Actions outside that transaction are not covered: calls of other systems, sent messages, and writes through
     * another DataSource, on another thread, or in a separate transaction ({@code REQUIRES_NEW}).
     */
    DATABASE
}
