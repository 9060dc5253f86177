package io.exactlyonce.chaos.worker;

/** A point of a delivery at which its worker can be killed. */
public enum Point {
    /** The message was received, and its key is not claimed. */
    BEFORE_CLAIM,
    /** The handler starts. */
    AFTER_CLAIM,
    /** The effect happened, and the handler has not returned. */
    AFTER_EFFECT,
    /** The handler returned, and its result is being written. */
    BEFORE_COMPLETION,
    /** The claim is completed, and the request to delete the message is sent. SQS has not received the request. */
    BEFORE_ACKNOWLEDGE
}
