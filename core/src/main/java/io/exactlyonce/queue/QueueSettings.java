package io.exactlyonce.queue;

import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue that matter to a listener. The settings may change at any time, so each delivery keeps the
 * settings at the time of its poll.
 *
 * @param window the visibility timeout of the messages that the listener receives from the queue
 * @param maxReceiveCount number of receives after which SQS moves a message to the dead-letter queue; {@code null} if
 *     there is no dead-letter queue
 * @param deadLetterQueue name of the dead-letter queue; {@code null} if there is none, or if its name is not known
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
     * Returns whether this receive of a message is its last one. SQS then moves the message to the dead-letter queue,
     * unless it is deleted.
     */
    public boolean isLastReceive(int receiveCount) {
        return maxReceiveCount != null && receiveCount >= maxReceiveCount;
    }
}
