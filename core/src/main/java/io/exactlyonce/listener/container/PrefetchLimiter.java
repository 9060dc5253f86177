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
 * Limits how many messages are handled at a time, and prefetches further messages. Each message is polled with a
 * permit. While handlers are quick, permits of a poll are released before its messages have ended. So the next messages
 * are received and claimed while the earlier messages are handled, and wait here until they may be handled.
 *
 * <p>The number of messages that are handled at a time is at most the listener's number of concurrent messages. The
 * number in flight is at most that number and the messages of one poll. Handlers start in the order in which {@link
 * #execute} was called.
 *
 * <p>Nothing is prefetched if a message would wait long for its handler, because another consumer could receive the
 * message instead. If all handlers suddenly become slow, the messages that were already prefetched, those of one poll
 * at most, wait longer. Waiting messages are renewed like all others.
 *
 * @param <M> a message, equal only to itself
 */
final class PrefetchLimiter<M> {

    /**
     * The longest expected wait of a prefetched message for its handler. If the wait would be longer, nothing is
     * prefetched.
     */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The time of the latest handler has a weight of one divided by this number in the average time. */
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

    /** The state of a message in flight: whether its handler was permitted to start, and when. */
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
     * @param mostPrefetched how many messages may be received in addition
     * @param clock monotonic, in nanoseconds
     */
    PrefetchLimiter(int mostHandled, int mostPrefetched, NanoClock clock) {
        this.mostHandled = mostHandled;
        this.mostPrefetched = mostPrefetched;
        this.clock = clock;
    }

    /**
     * Adds polled messages, each of which holds a permit.
     *
     * @return how many of the permits to release now, so that further messages can be prefetched
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
     * Runs the handler of some messages as soon as all of them may be handled.
     *
     * @param all the messages. The application's own back pressure may permit a batch of more messages than the limit.
     *     The handler of such a batch starts when no other message is handled
     */
    void execute(List<M> all, Runnable handler) {
        synchronized (this) {
            waiting.add(new Waiting<>(all, handler));
        }
        proceed();
    }

    /**
     * Removes a message from those in flight, if it is still there. After this call, the caller calls {@link #proceed},
     * which starts the handlers that wait.
     *
     * @return whether the caller must release a permit; false if the message was removed before. Also false if one
     *     permit too many was released early, which this message makes good
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
        // More permits were released early than are allowed now, so this message's permit is not released.
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
     * Starts the handlers whose messages may be handled. The handlers run in a loop, and not in nested calls. A handler
     * may end at once and let the next handler start, so nested calls could overflow the stack.
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
     * Returns the next handler that may start; {@code null} if there is none. Memory is allocated before the state
     * changes. If an allocation failed afterwards, messages would count as handled although their handler does not
     * start.
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
