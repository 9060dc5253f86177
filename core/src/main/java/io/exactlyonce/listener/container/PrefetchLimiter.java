package io.exactlyonce.listener.container;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many messages are handled at a time, and lets a listener receive the next messages already. While handlers
 * are quick, some permits are released before the handlers of their messages end. So the next messages are received and
 * claimed while the earlier ones are handled. The next messages wait here for their handlers.
 *
 * <p>At most {@code maxConcurrentMessages} messages are handled at a time. The messages of one more poll may wait.
 * Handlers start in the order in which {@link #execute} was called.
 *
 * <p>If a message would wait long for its handler, nothing is prefetched, because another consumer could receive the
 * message instead. If handlers suddenly become slow, the messages that were already prefetched wait longer. Waiting
 * messages are renewed like all others.
 *
 * @param <M> the type of the messages. Two messages must never be equal, because they are keys of a map
 */
final class PrefetchLimiter<M> {

    /**
     * Limit of the time that a prefetched message is expected to wait for its handler. If the wait would be longer,
     * nothing is prefetched.
     */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Smooths the average time of handlers: the latest handler counts for one eighth. */
    private static final int SMOOTHING = 8;

    private final int mostHandled;
    private final int mostPrefetched;
    private final NanoClock clock;
    private final Map<M, Handling> messages = new HashMap<>();
    private final Counter unfinished = new Counter(new AtomicInteger());
    private final Deque<Waiting<M>> waiting = new ArrayDeque<>();
    private int handled;
    private int prefetched;
    private long typicalNanos = Long.MAX_VALUE;
    private boolean isClosed;

    /** True on a thread that is inside {@link #proceed}, so that a nested call returns at once. */
    private final ThreadLocal<@Nullable Boolean> starting = new ThreadLocal<>();

    /** State of a message in flight: whether its handler has started, and when. */
    private static final class Handling {
        private boolean hasStarted;
        private long startedAt;

        void start(long now) {
            hasStarted = true;
            startedAt = now;
        }
    }

    private record Waiting<M>(List<M> messages, Runnable handler) {}

    /**
     * Makes a limiter.
     *
     * @param mostHandled how many messages may be handled at a time
     * @param mostPrefetched how many further messages may be in flight
     * @param clock monotonic, in nanoseconds
     */
    PrefetchLimiter(int mostHandled, int mostPrefetched, NanoClock clock) {
        this.mostHandled = mostHandled;
        this.mostPrefetched = mostPrefetched;
        this.clock = clock;
    }

    /**
     * Adds the messages of a poll, each of which holds a permit.
     *
     * @return how many of the permits to release now, so that further messages can be polled
     */
    synchronized int onReceived(List<M> arrived) {
        for (M message : arrived) {
            messages.put(message, new Handling());
            unfinished.add(1);
        }
        int released = Math.max(0, Math.min(arrived.size(), prefetchLimit() - prefetched));
        prefetched += released;
        return released;
    }

    /**
     * Runs a handler as soon as all its messages may be handled.
     *
     * @param all the messages for one call of the handler. A batch of more messages than {@code mostHandled} starts
     *     when no other message is being handled
     */
    void execute(List<M> all, Runnable handler) {
        synchronized (this) {
            waiting.add(new Waiting<>(all, handler));
        }
        proceed();
    }

    /**
     * Removes a message that is no longer in flight. Afterwards the caller must call {@link #proceed}, which starts
     * handlers that wait.
     *
     * @return whether the caller must release a permit. False if the message was already removed, or if too many
     *     permits were released early
     */
    synchronized boolean onFinished(M message) {
        Handling ended = messages.remove(message);
        if (ended == null) {
            return false;
        }
        if (ended.hasStarted) {
            handled--;
            long took = Math.max(0, clock.nanoTime() - ended.startedAt);
            typicalNanos = typicalNanos == Long.MAX_VALUE ? took : typicalNanos + (took - typicalNanos) / SMOOTHING;
        }
        unfinished.add(-1);
        // More permits were released early than are allowed now, for example because handlers have become slow. To make
        // up for one of them, the permit of this message is not released.
        if (prefetched > Math.min(prefetchLimit(), unfinished.get())) {
            prefetched--;
            return false;
        }
        return true;
    }

    private int prefetchLimit() {
        boolean isQuick = typicalNanos <= LONGEST_WAIT_NANOS * mostHandled / Math.max(1, mostPrefetched);
        return isQuick && !isClosed ? mostPrefetched : 0;
    }

    /**
     * Starts the handlers that may start now, one after the other in a loop. A handler may end at once and start the
     * next one. Without the loop, such nested calls could overflow the stack.
     */
    void proceed() {
        if (starting.get() != null || isNothingWaiting()) {
            return;
        }
        starting.set(true);
        try {
            for (Runnable next = next(); next != null; next = next()) {
                next.run();
            }
        } finally {
            starting.remove();
        }
    }

    private synchronized boolean isNothingWaiting() {
        return waiting.isEmpty();
    }

    /**
     * Returns the next handler that may start; {@code null} if there is none. All memory is allocated before
     * {@code handled} is raised. If memory ran out afterwards, {@code handled} would stay too high.
     */
    private synchronized @Nullable Runnable next() {
        while (!waiting.isEmpty()) {
            Waiting<M> first = waiting.element();
            List<Handling> ready = first.messages().stream()
                    .map(messages::get)
                    .filter(Objects::nonNull)
                    .toList();
            if (handled > 0 && handled + ready.size() > mostHandled) {
                return null;
            }
            waiting.remove();
            if (!ready.isEmpty()) {
                long now = clock.nanoTime();
                ready.forEach(each -> each.start(now));
                handled += ready.size();
                return first.handler();
            }
        }
        return null;
    }

    /** Stops prefetching, and waits until no message is in flight. Returns false on timeout. */
    boolean drain(Duration timeout) throws InterruptedException {
        synchronized (this) {
            isClosed = true;
        }
        return unfinished.awaitAtMost(0, timeout);
    }

    /** Returns the messages in flight. */
    synchronized List<M> unfinished() {
        return List.copyOf(messages.keySet());
    }
}
