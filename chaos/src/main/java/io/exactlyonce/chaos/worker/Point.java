package io.exactlyonce.chaos.worker;

/** A moment of a delivery at which its worker can be killed. */
public enum Point {
    /** The message was received; its key is not claimed. */
    BEFORE_CLAIM,
    /** The handler begins. */
    AFTER_CLAIM,
    /** The effect has happened; the handler has not returned. */
    AFTER_EFFECT,
    /** The handler has returned, and its result is being written down. */
    BEFORE_COMPLETION,
    /** The claim is completed, and the request to delete the message is on its way; SQS has not got it. */
    BEFORE_ACKNOWLEDGE
}
