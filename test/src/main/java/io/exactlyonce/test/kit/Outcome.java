package io.exactlyonce.test.kit;

/** The state of a delivery. */
public enum Outcome {

    /** The handler is about to run or runs, or its future is not done. */
    RUNNING,

    /** The handler has ended, but its completion is not recorded: the store is unavailable, and is retried. */
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
     * The handler's outcome is not recorded, and this delivery will not record it: its claim was lost, or is left to
     * expire. The message is redelivered.
     */
    ABANDONED,

    /** The worker has crashed; the message is redelivered when its visibility timeout expires. */
    CRASHED,

    /** The message has no key, and {@code whenKeyMissing = SKIP} has deleted it without a handler call. */
    SKIPPED
}
