package io.exactlyonce.test.kit;

/**
 * The point at which the worker of a message dies. From then on, the worker writes no claim, and neither deletes nor
 * returns the message.
 */
public enum CrashPoint {

    /** The key is claimed, and the handler's method has not started. */
    BEFORE_HANDLER,

    /** The handler returned or failed, and the outcome is not recorded. Its effects happened unrecorded. */
    AFTER_HANDLER,

    /** The key's completion is recorded, and the message is not deleted. */
    AFTER_COMPLETION
}
