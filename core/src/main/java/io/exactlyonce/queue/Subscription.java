package io.exactlyonce.queue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A listener's subscription to one queue, from a start of the listener until its stop. The queue's settings may change
 * in this time, and the subscription has the settings that were read last.
 */
public final class Subscription {

    private static final String FIFO = ".fifo";

    private final ListenerQueue listenerQueue;
    private final @Nullable Duration timeout;
    private final QueueVisibility visibility;
    private final PollGate gate;
    private final Levels levels = new Levels();
    private volatile QueueSettings settings;
    private volatile @Nullable Attempts attempts;
    private volatile boolean stopping;

    /**
     * The subscription's counts, which gauges read, and the limit of its log lines.
     *
     * @param inFlight deliveries that are not yet deleted, returned or abandoned, including waiting deliveries
     * @param waiting deliveries that wait for the owner of their key, or for the store
     * @param recording deliveries whose handlers have ended, but whose outcome is not recorded yet
     * @param lines limits the log lines that senders can cause
     */
    public record Levels(AtomicInteger inFlight, AtomicInteger waiting, AtomicInteger recording, RepeatedLines lines) {
        Levels() {
            this(new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new RepeatedLines());
        }
    }

    /**
     * The limit on failed attempts at a key of the listener.
     *
     * @param scope the scope of the listener's keys
     * @param most number of attempts that may throw before a key is parked; 0 for no limit
     */
    public record Attempts(String scope, int most) {}

    /**
     * Begins a subscription that may always poll. The listener's handlers have no timeout, and the queue has no
     * dead-letter queue.
     */
    public Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {
        this(listener, queue, new QueueSettings(window, null), null, visibility, PollGate.OPEN);
    }

    /**
     * Begins a subscription.
     *
     * @param listener the listener's id
     * @param queue the queue's name
     * @param settings the queue's settings at the listener's start
     * @param timeout how long the listener's handler may run; {@code null} if only SQS's ceiling of 12 h limits it
     * @param visibility changes the visibility of the queue's messages
     * @param gate decides whether the listener may poll
     */
    public Subscription(
            String listener,
            String queue,
            QueueSettings settings,
            @Nullable Duration timeout,
            QueueVisibility visibility,
            PollGate gate) {
        this.listenerQueue = new ListenerQueue(listener, queue);
        this.settings = settings;
        this.timeout = timeout;
        this.visibility = visibility;
        this.gate = gate;
    }

    /** Returns the names of the listener and the queue. */
    public ListenerQueue listenerQueue() {
        return listenerQueue;
    }

    /** Returns the listener's id. */
    public String listener() {
        return listenerQueue.listener();
    }

    /** Returns the queue's name. */
    public String queue() {
        return listenerQueue.queue();
    }

    /** Returns the latest settings of the queue. */
    public QueueSettings settings() {
        return settings;
    }

    /** Sets the queue's settings, which apply to messages that are requested from now on. */
    public void change(QueueSettings read) {
        settings = read;
    }

    /** Returns how long the listener's handler may run; {@code null} if only SQS's ceiling of 12 h limits it. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Sets the limit on failed attempts at a key of the listener. */
    public void bound(Attempts most) {
        attempts = most;
    }

    /** Returns the limit on failed attempts at a key of the listener; {@code null} if no limit was set. */
    public @Nullable Attempts attempts() {
        return attempts;
    }

    public QueueVisibility visibility() {
        return visibility;
    }

    public PollGate gate() {
        return gate;
    }

    public Levels levels() {
        return levels;
    }

    /** Marks the listener as stopping. A stopping listener calls no further handler. */
    public void stop() {
        stopping = true;
    }

    public boolean isStopping() {
        return stopping;
    }

    /** Returns whether the queue is a FIFO queue, by its name. */
    public boolean isFifo() {
        return queue().endsWith(FIFO);
    }

    @Override
    public String toString() {
        return listenerQueue.toString();
    }
}
