package io.exactlyonce.test.kit;

/** What has become of a delivery until now. */
public enum Outcome {

    /** It is on its way to its handler, the handler runs, or the future that it returned goes on. */
    RUNNING,

    /** Its handler has ended, and its completion is not on record: the store is away, and is asked again and again. */
    UNRECORDED,

    /** Its handler was called, its key is completed, and its message is deleted. */
    HANDLED,

    /** Its key was completed before: its message is deleted, and the handler was not called. */
    SUPPRESSED,

    /** It waits, invisible and without a thread, for the holder of its key or for the store. */
    WAITING,

    /** Its key is parked, and its message comes again, in the end to the dead-letter queue. */
    PARKED,

    /** Its key is completed, for another payload: its message comes again. */
    MISMATCHED,

    /** Its handler has failed, or was not called: its message comes again after {@link Delivered#delay()}. */
    RETURNED,

    /**
     * What its handler did is not on record, and will not be by this delivery: its claim was lost, or left to its lease's end. Its
     * message comes again.
     */
    ABANDONED,

    /** Its worker has crashed: its message comes again when its window is over. */
    CRASHED
}
