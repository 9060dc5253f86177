package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue that apply to a listener's messages. They may change at any time; each delivery keeps the
 * settings with which its message was requested.
 *
 * @param window the visibility timeout of the messages that the listener receives from the queue
 * @param maxReceiveCount after how many receives SQS moves a message to the dead-letter queue; {@code null} if the
 *     queue has none
 * @param deadLetterQueue the name of the dead-letter queue; {@code null} if the queue has none, or it is not known
 */
public record QueueSettings(
        VisibilityWindow window,
        @Nullable Integer maxReceiveCount,
        @Nullable String deadLetterQueue) {

    /** Makes settings without the dead-letter queue's name. */
    public QueueSettings(VisibilityWindow window, @Nullable Integer maxReceiveCount) {
        this(window, maxReceiveCount, null);
    }

    /** Makes settings from a queue's attributes. */
    public static QueueSettings of(VisibilityWindow window, QueueAttributes attributes) {
        QueueAttributes.Redrive redrive = attributes.redrive();
        return redrive == null
                ? new QueueSettings(window, null)
                : new QueueSettings(window, redrive.maxReceiveCount(), redrive.name());
    }

    /** Returns these settings for a queue without a dead-letter queue. */
    public QueueSettings withoutDeadLetters() {
        return new QueueSettings(window, null);
    }

    /** Returns whether SQS moves a message to the dead-letter queue instead of delivering it once more. */
    public boolean isLastReceive(int receiveCount) {
        return maxReceiveCount != null && receiveCount >= maxReceiveCount;
    }
}
