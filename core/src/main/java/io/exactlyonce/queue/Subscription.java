package io.exactlyonce.queue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A listener's subscription to one queue, from one start of the listener until its stop. The queue's settings may
 * change meanwhile; the subscription has the settings that were read last.
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
     * The current numbers of the subscription, which gauges read.
     *
     * @param inFlight deliveries that are neither deleted nor returned nor abandoned yet, including those that wait
     * @param waiting deliveries that wait for the owner of their key, or for the store
     * @param recording deliveries whose handlers have ended, and whose outcome is not recorded yet
     * @param lines limits the log lines that senders can cause
     */
    public record Levels(AtomicInteger inFlight, AtomicInteger waiting, AtomicInteger recording, RepeatedLines lines) {
        Levels() {
            this(new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new RepeatedLines());
        }
    }

    /**
     * The bound on attempts of the listener's keys.
     *
     * @param scope of the keys
     * @param most attempts that may throw before a key is parked; 0 for any number
     */
    public record Attempts(String scope, int most) {}

    /**
     * Begins a subscription that may always poll, whose handlers have no timeout, and whose queue has no dead-letter
     * queue.
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
     * @param timeout the longest run of the listener's handler; {@code null} for none but SQS's ceiling
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

    /** Sets the queue's settings. They apply to messages that are requested from now on. */
    public void change(QueueSettings read) {
        settings = read;
    }

    /** Returns the longest run of the listener's handler; {@code null} for none but SQS's ceiling. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Sets the bound on attempts of the listener's keys. */
    public void bound(Attempts most) {
        attempts = most;
    }

    /** Returns the bound on attempts of the listener's keys; {@code null} if it is not known. */
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

    /** Marks the listener as stopping: it calls no further handler. */
    public void stop() {
        stopping = true;
    }

    public boolean isStopping() {
        return stopping;
    }

    /** Returns whether the queue keeps the order of its groups, by its name. */
    public boolean isFifo() {
        return queue().endsWith(FIFO);
    }

    @Override
    public String toString() {
        return listenerQueue.toString();
    }
}
