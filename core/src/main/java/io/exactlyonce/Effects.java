package io.exactlyonce;

/** The place of a handler's effects, which determines their guarantees. */
public enum Effects {

    /**
     * The handler calls other systems. The key is claimed and completed in short transactions of their own, before and
     * after the handler. If a worker dies in between, the next attempt sees {@link Claim#isInDoubt()}.
     */
    EXTERNAL,

    /**
     * All of the handler's effects are writes to the PostgreSQL database that stores the claims. Claim, handler and
     * completion are one transaction, which commits once or not at all.
     *
     * <p>Not covered: actions outside of that transaction, such as calls of other systems, sent messages, and writes
     * through another DataSource, on another thread, or in a separate transaction ({@code REQUIRES_NEW}).
     */
    DATABASE
}
