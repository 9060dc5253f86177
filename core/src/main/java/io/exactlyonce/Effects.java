package io.exactlyonce;

/** Where a handler's effects happen; it decides what can be guaranteed for them. */
public enum Effects {

    /**
     * The handler calls other systems. The key is claimed and completed in short transactions of their own, before and
     * after the handler. A worker that dies in between leaves a doubt, which the next attempt learns of by {@link
     * Claim#isInDoubt()}.
     */
    EXTERNAL,

    /**
     * All of the handler's effects are writes to the PostgreSQL database that keeps the claims. Claim, handler and
     * completion are one transaction, so that all of it happens, once, or nothing.
     *
     * <p>Not covered: what the handler does outside of that transaction, such as calls of other systems, messages that it
     * sends, writes through another DataSource, in another thread, or in a transaction of its own ({@code REQUIRES_NEW}).
     */
    DATABASE
}
