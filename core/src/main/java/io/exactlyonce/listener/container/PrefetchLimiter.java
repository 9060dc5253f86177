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
 * Limits how many messages are handled at a time, and prefetches others meanwhile. A permit lets a message be polled.
 * While handlers are quick, the permits of one poll's messages are released before these messages have ended. So the
 * next messages are received and claimed while the earlier ones are handled, and wait here for their turn.
 *
 * <p>Guaranteed: never more messages are handled at a time than the listener's number, and never more are in flight
 * than that number and one poll. Handlers start in the order of requests.
 *
 * <p>Nothing is prefetched while a message would wait for long, because another consumer could receive it instead. If
 * all handlers suddenly become slow, the messages of one poll wait once; they are renewed like the others.
 *
 * @param <M> a message, equal only to itself
 */
final class PrefetchLimiter<M> {

    /** Longest time that a prefetched message is expected to wait for its handler. */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The weight of the latest handler in the average is one divided by this number. */
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

    /** True while this thread starts handlers in a frame further up its stack. */
    private final ThreadLocal<@Nullable Boolean> starting = new ThreadLocal<>();

    /** The handling of a message in flight, which counts from the time when its handler may start. */
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
     * @param mostPrefetched how many more may be received
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
     * @return how many permits to release now
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
     * @param all the messages; more than the limit are handled without others, because the application's own back
     *     pressure may permit such a batch
     */
    void execute(List<M> all, Runnable handler) {
        synchronized (this) {
            waiting.add(new Waiting<>(all, handler));
        }
        proceed();
    }

    /**
     * Removes a message. {@link #proceed} then starts the handlers that wait. Does nothing to a message that has left.
     *
     * @return whether to release the message's permit; false if its permit was released early
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
        // The next message that leaves keeps its permit, in exchange for a permit that was released early.
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
     * Starts the handlers whose messages may be handled. Runs them in a loop, because a handler that ends at once lets
     * the next one start, and recursion could overflow the stack.
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
     * Returns the next handler that may start. Allocates before it changes anything: otherwise a crash could count
     * messages as handled although they have no handler.
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
