package io.exactlyonce.test.kit;

/**
 * Where the worker dies that has a message. From there on it writes no claim, and neither deletes nor returns the
 * message.
 */
public enum CrashPoint {

    /** The key is claimed, and the handler's method has not begun. */
    BEFORE_HANDLER,

    /** The handler has returned or failed, and the outcome is not recorded: its effects have happened unrecorded. */
    AFTER_HANDLER,

    /** The key's completion is on record, and the message is not deleted. */
    AFTER_COMPLETION
}
