package io.exactlyonce.test.kit;

/** The state of a delivery. */
public enum Outcome {

    /** The handler is about to run, is running, or its future is not done. */
    RUNNING,

    /** The handler ended, and its outcome is not recorded: the store is unavailable, and the call is retried. */
    UNRECORDED,

    /** The handler was called, the key is completed, and the message is deleted. */
    HANDLED,

    /** The key was already completed: the message is deleted without a handler call. */
    SUPPRESSED,

    /** The delivery waits, invisible and without a thread, for the owner of its key or for the store. */
    WAITING,

    /** The key is parked; the message is redelivered, and finally moves to the dead-letter queue. */
    PARKED,

    /** The key is completed for another payload; the message is redelivered. */
    MISMATCHED,

    /** The handler failed, or was not called; the message is redelivered after {@link Delivered#delay()}. */
    RETURNED,

    /**
     * The handler's outcome is not recorded, and this delivery will not record it. The claim was lost, or its lease
     * will expire. The message is redelivered.
     */
    ABANDONED,

    /** The worker crashed. The message is redelivered when its visibility timeout expires. */
    CRASHED,

    /** The message has no key, and was deleted without a handler call because of {@code whenKeyMissing = SKIP}. */
    SKIPPED
}
