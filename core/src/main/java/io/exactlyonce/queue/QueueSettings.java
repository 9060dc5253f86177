package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue that apply to a listener's messages. The settings may change at any time, so each delivery
 * keeps the settings that applied when its message was requested.
 *
 * @param window the visibility timeout of the messages that the listener receives from the queue
 * @param maxReceiveCount number of receives after which SQS moves a message to the dead-letter queue; {@code null} if
 *     the queue has none
 * @param deadLetterQueue name of the dead-letter queue; {@code null} if the queue has none, or if its name is not known
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

    /** Returns the same settings without the dead-letter queue. */
    public QueueSettings withoutDeadLetters() {
        return new QueueSettings(window, null);
    }

    /**
     * Returns whether SQS moves a message that was received this often to the dead-letter queue, instead of delivering
     * the message again.
     */
    public boolean isLastReceive(int receiveCount) {
        return maxReceiveCount != null && receiveCount >= maxReceiveCount;
    }
}
