package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue that apply to a listener's messages. They may change at any time; each delivery keeps the
 * settings with which its message was requested.
 *
 * @param window the visibility timeout of the messages that the listener receives from the queue
 * @param maxReceiveCount after how many receives SQS moves a message to the dead-letter queue; {@code null} if the queue
 *     has none
 */
public record QueueSettings(
        VisibilityWindow window, @Nullable Integer maxReceiveCount) {

    /** Returns whether SQS moves a message to the dead-letter queue instead of delivering it once more. */
    public boolean isLastReceive(int receiveCount) {
        return maxReceiveCount != null && receiveCount >= maxReceiveCount;
    }
}
