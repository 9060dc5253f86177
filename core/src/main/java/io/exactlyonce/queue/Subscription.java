package io.exactlyonce.queue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A listener on one of its queues, from the listener's start until its stop. Has the queue's settings that were read
 * last.
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
     * The numbers of deliveries that gauges show, and the limit of log lines.
     *
     * @param inFlight deliveries in flight, including those in {@code waiting}
     * @param waiting deliveries that wait for the owner of their key, or for the claim store
     * @param recording deliveries whose handlers have ended, but whose outcome is not recorded yet
     * @param lines limits the log lines that senders can cause
     */
    public record Levels(AtomicInteger inFlight, AtomicInteger waiting, AtomicInteger recording, RepeatedLines lines) {
        Levels() {
            this(new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new RepeatedLines());
        }
    }

    /**
     * Limit of failed attempts for a key. When the limit is reached, the key is parked.
     *
     * @param scope the scope of the listener's keys
     * @param most number of failed attempts; 0 for no limit
     */
    public record Attempts(String scope, int most) {}

    /**
     * Creates a subscription that may always poll. Its handler has no timeout, and its queue has no dead-letter queue.
     */
    public Subscription(String listener, String queue, VisibilityWindow window, QueueVisibility visibility) {
        this(listener, queue, new QueueSettings(window, null), null, visibility, PollGate.OPEN);
    }

    /**
     * @param listener the listener's id
     * @param queue the queue's name
     * @param settings the queue's settings at the listener's start
     * @param timeout how long the listener's handler may run; {@code null} if only SQS's limit of 12 h applies
     * @param visibility changes the visibility timeouts of the queue's messages
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

    /** Sets the queue's settings, which apply to messages that are polled from now on. */
    public void change(QueueSettings read) {
        settings = read;
    }

    /** Returns how long the listener's handler may run; {@code null} if only SQS's limit of 12 h applies. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    public void bound(Attempts most) {
        attempts = most;
    }

    /** Returns how often a handler may fail for a key; {@code null} if no limit was set. */
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

    /** Marks the listener as stopping, so that it calls no further handler. */
    public void stop() {
        stopping = true;
    }

    public boolean isStopping() {
        return stopping;
    }

    public boolean isFifo() {
        return queue().endsWith(FIFO);
    }

    @Override
    public String toString() {
        return listenerQueue.toString();
    }
}
