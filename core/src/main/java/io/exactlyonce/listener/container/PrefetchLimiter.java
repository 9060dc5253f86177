package io.exactlyonce.listener.container;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps handlers at work while the next poll and its claims are under way. A permit lets a message be polled, a slot
 * lets its handler run. While handlers are quick, one poll's worth of permits is lent: released before its messages
 * have ended, so that the next messages are received and claimed meanwhile. Those wait here for a slot.
 *
 * <p>Guaranteed: never more handlers at a time than the listener's number, and never more messages in flight than that
 * and one poll. Slots are assigned in the order of requests.
 *
 * <p>Nothing is lent while a message would wait for long: another consumer could have received it. If all handlers
 * suddenly become slow, the messages of one poll wait once; they are renewed like the others.
 */
final class PrefetchLimiter {

    /** Longest time that a message received ahead is expected to wait for its slot. */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The weight of the latest handler in the average, as one in this number. */
    private static final int SMOOTHING = 8;

    private final int most;
    private final int ahead;
    private final NanoClock clock;
    private final Counter inHand = new Counter(new AtomicInteger());

    /** The messages in flight, with the time when each got its slot, if it has one. */
    private final Map<Object, @Nullable Long> messages = new HashMap<>();

    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private int taken;
    private int prefetched;
    private long typicalNanos = Long.MAX_VALUE;
    private boolean isClosed;

    /** True if this thread already begins handlers, further out on its stack. */
    private final ThreadLocal<@Nullable Boolean> beginning = new ThreadLocal<>();

    private record Waiting(List<?> messages, Runnable task) {}

    /**
     * Makes slots.
     *
     * @param most how many messages may be handled at a time
     * @param ahead how many more may be received
     * @param clock monotonic, in nanoseconds
     */
    PrefetchLimiter(int most, int ahead, NanoClock clock) {
        this.most = most;
        this.ahead = ahead;
        this.clock = clock;
    }

    /**
     * Messages were polled, which hold a permit each.
     *
     * @return how many permits to release now
     */
    synchronized int onReceived(List<?> arrived) {
        for (Object message : arrived) {
            messages.put(message, null);
            inHand.add(1);
        }
        int lending = Math.max(0, Math.min(arrived.size(), limit() - prefetched));
        prefetched += lending;
        return lending;
    }

    /**
     * Runs a task when there is a slot for each of some messages, all at once.
     *
     * @param all if they are more than there are slots, they take all: an application's own back pressure may allow more
     */
    void execute(List<?> all, Runnable task) {
        synchronized (this) {
            waiting.add(new Waiting(all, task));
        }
        proceed();
    }

    /**
     * A message leaves, with its slot if it has had one; {@link #proceed} gives the slot to another one. Does nothing to a message
     * that has left.
     *
     * @return whether to release its permit
     */
    synchronized boolean onFinished(Object message) {
        return remove(message);
    }

    /** Messages that leave first repay excess lent permits. */
    private boolean remove(Object message) {
        if (!messages.containsKey(message)) {
            return false;
        }
        Long begunAt = messages.remove(message);
        if (begunAt != null) {
            taken--;
            long took = Math.max(0, clock.nanoTime() - begunAt);
            typicalNanos = typicalNanos == Long.MAX_VALUE ? took : typicalNanos + (took - typicalNanos) / SMOOTHING;
        }
        inHand.add(-1);
        if (prefetched > Math.min(limit(), inHand.get())) {
            prefetched--;
            return false;
        }
        return true;
    }

    private int limit() {
        boolean isQuick = typicalNanos <= LONGEST_WAIT_NANOS * most / Math.max(1, ahead);
        return isQuick && !isClosed ? ahead : 0;
    }

    /**
     * Runs the tasks for which there are slots. One after the other also where one ends at once, and lets the next begin: no stack is
     * deep enough for as many as may wait.
     */
    void proceed() {
        if (beginning.get() != null || isNothingWaiting()) {
            return;
        }
        beginning.set(true);
        try {
            for (Runnable next = following(); next != null; next = following()) {
                next.run();
            }
        } finally {
            beginning.remove();
        }
    }

    private synchronized boolean isNothingWaiting() {
        return waiting.isEmpty();
    }

    /** Makes what it needs before it changes anything: a slot that is given to no task would be lost. */
    private synchronized @Nullable Runnable following() {
        while (!waiting.isEmpty()) {
            Waiting first = waiting.element();
            List<?> asking =
                    first.messages().stream().filter(messages::containsKey).toList();
            if (taken > 0 && taken + asking.size() > most) {
                return null;
            }
            Long now = clock.nanoTime();
            waiting.remove();
            if (!asking.isEmpty()) {
                asking.forEach(message -> messages.put(message, now));
                taken += asking.size();
                return first.task();
            }
        }
        return null;
    }

    /** Stops lending, and waits until no message is in flight; returns whether none is. */
    boolean drain(Duration timeout) throws InterruptedException {
        synchronized (this) {
            isClosed = true;
        }
        return inHand.awaitAtMost(0, timeout);
    }

    /** Returns the messages in flight. */
    synchronized List<Object> inFlight() {
        return List.copyOf(messages.keySet());
    }
}
