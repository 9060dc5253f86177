package io.exactlyonce.visibility;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A listener's subscription to one queue, from one start of the listener until its stop, with what was read of the queue at
 * a time. All revisions of one start are equal, and share its levels: visibility timeout and redrive policy may change meanwhile,
 * and each delivery keeps to those that it was received by.
 *
 * @param listener the listener's id
 * @param queue the queue's name
 * @param window the visibility timeout of the messages that the listener receives from the queue
 * @param timeout the longest run of the listener's handler; {@code null} for none but SQS's ceiling
 * @param visibility changes the visibility of the queue's messages
 * @param maxReceiveCount after how many receives SQS moves a message to the dead-letter queue; {@code null} if the queue
 *     has none
 * @param gate decides whether the listener may poll
 * @param levels its current state
 */
public record Subscription(
        String listener,
        String queue,
        VisibilityWindow window,
        @Nullable Duration timeout,
        QueueVisibility visibility,
        @Nullable Integer maxReceiveCount,
        PollGate gate,
        Levels levels) {

    private static final String FIFO = ".fifo";

    /**
     * The current state of the subscription, read by gauges, and whether it is stopping.
     *
     * @param inFlight deliveries that are neither deleted nor returned nor abandoned yet, including those that wait
     * @param waiting deliveries that wait for the owner of their key, or for the store
     * @param recording deliveries whose handlers have ended, and whose outcome is not recorded yet
     * @param stopping 1 from the beginning of its stop
     * @param lines limits the log lines that senders can cause
     */
    public record Levels(
            AtomicInteger inFlight,
            AtomicInteger waiting,
            AtomicInteger recording,
            AtomicInteger stopping,
            RepeatedLines lines) {
        Levels() {
            this(
                    new AtomicInteger(),
                    new AtomicInteger(),
                    new AtomicInteger(),
                    new AtomicInteger(),
                    new RepeatedLines());
        }
    }

    /** Begins a subscription that may always poll, whose handlers have no timeout, and whose queue has no dead-letter queue. */
    public Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {
        this(listener, queue, window, null, visibility, null, PollGate.OPEN);
    }

    /** Begins a subscription. */
    public Subscription(
            String listener,
            String queue,
            VisibilityWindow window,
            @Nullable Duration timeout,
            QueueVisibility visibility,
            @Nullable Integer maxReceiveCount,
            PollGate gate) {
        this(listener, queue, window, timeout, visibility, maxReceiveCount, gate, new Levels());
    }

    /** Returns the same subscription with newer queue settings. */
    public Subscription revised(VisibilityWindow window, @Nullable Integer maxReceiveCount) {
        return new Subscription(listener, queue, window, timeout, visibility, maxReceiveCount, gate, levels);
    }

    /** Its listener begins to stop: no further handler begins. */
    public void stop() {
        levels.stopping.set(1);
    }

    public boolean isStopping() {
        return levels.stopping.get() > 0;
    }

    /** Returns whether the queue keeps the order of its groups, by its name. */
    public boolean isFifo() {
        return queue.endsWith(FIFO);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Subscription subscription && levels.equals(subscription.levels);
    }

    @Override
    public int hashCode() {
        return levels.hashCode();
    }

    @Override
    public String toString() {
        return "listener '%s' on queue '%s'".formatted(listener, queue);
    }
}
