package io.exactlyonce.listener.permits;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps handlers at work while the next poll and its claims are under way. A permit lets a message be polled, a slot lets its
 * handler run. While handlers are quick, one poll's worth of permits is lent: given back before its messages have ended, so that
 * the next messages are received and claimed meanwhile. They wait here for a slot.
 *
 * <p>Guaranteed: never more handlers at a time than the listener's number, and never more messages in hand than that and one
 * poll. Slots are given in the order in which they were asked for.
 *
 * <p>Nothing is lent while a message would wait for long: it could have been another consumer's. Handlers that grow slow all at
 * once cost the messages of one poll that wait, once; they are renewed like the rest.
 */
public final class HandlerSlots {

    /** Longest time that a message received ahead is expected to wait for its slot. */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** What the latest handler counts in the average, one in so many. */
    private static final int SMOOTHING = 8;

    /** Those that are still to begin on this thread, while one of them does. */
    private static final ThreadLocal<@Nullable Deque<Waiting>> BEGINNING = new ThreadLocal<>();

    private final int most;
    private final int ahead;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition fewer = lock.newCondition();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private int taken;
    private int inHand;
    private int lent;
    private long typicalNanos = Long.MAX_VALUE;
    private boolean isClosed;

    /**
     * Makes slots.
     *
     * @param most how many messages may be handled at a time
     * @param ahead how many more may be received
     * @param clock monotonic, in nanoseconds
     */
    public HandlerSlots(int most, int ahead, NanoClock clock) {
        this.most = most;
        this.ahead = ahead;
        this.clock = clock;
    }

    /**
     * Messages were polled, which hold a permit each.
     *
     * @return how many permits are to be given back now
     */
    public int arrive(int messages) {
        lock.lock();
        try {
            inHand += messages;
            int lending = Math.max(0, Math.min(messages, limit() - lent));
            lent += lending;
            return lending;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a slot for each of some messages, all at once.
     *
     * @param messages if they are more than there are slots, they take all: an application's own back pressure may allow more
     * @return completes when they are taken, with that moment
     */
    public CompletableFuture<Long> take(int messages) {
        Waiting asked = new Waiting(messages, new CompletableFuture<>());
        List<Waiting> next;
        lock.lock();
        try {
            waiting.add(asked);
            next = next();
        } finally {
            lock.unlock();
        }
        begin(next);
        return asked.begun();
    }

    /**
     * A message that had a slot leaves.
     *
     * @param begunAt when its slot was taken
     * @return whether its permit is to be given back
     */
    public boolean end(long begunAt) {
        boolean isReleased;
        List<Waiting> next;
        lock.lock();
        try {
            long took = Math.max(0, clock.nanoTime() - begunAt);
            typicalNanos = typicalNanos == Long.MAX_VALUE ? took : typicalNanos + (took - typicalNanos) / SMOOTHING;
            isReleased = leaveHand();
            taken--;
            next = next();
        } finally {
            lock.unlock();
        }
        begin(next);
        return isReleased;
    }

    private List<Waiting> next() {
        List<Waiting> next = new ArrayList<>();
        while (!waiting.isEmpty() && (waiting.element().messages() <= most - taken || taken == 0)) {
            taken += waiting.element().messages();
            next.add(waiting.remove());
        }
        return next;
    }

    /** One after the other also where one ends at once, and lets the next begin: no stack is deep enough for as many as may wait. */
    private void begin(List<Waiting> next) {
        if (next.isEmpty()) {
            return;
        }
        Deque<Waiting> already = BEGINNING.get();
        if (already != null) {
            already.addAll(next);
            return;
        }
        Deque<Waiting> beginning = new ArrayDeque<>(next);
        BEGINNING.set(beginning);
        try {
            while (!beginning.isEmpty()) {
                Waiting first = beginning.remove();
                Boundary.guard("A handler's slot", () -> first.begun().complete(clock.nanoTime()));
            }
        } finally {
            BEGINNING.remove();
        }
    }

    /**
     * A message leaves that has had no slot.
     *
     * @return whether its permit is to be given back
     */
    public boolean leave() {
        lock.lock();
        try {
            return leaveHand();
        } finally {
            lock.unlock();
        }
    }

    /** Messages that leave pay first for what is lent too much. */
    private boolean leaveHand() {
        inHand--;
        fewer.signalAll();
        if (lent > Math.min(limit(), inHand)) {
            lent--;
            return false;
        }
        return true;
    }

    private int limit() {
        boolean isQuick = typicalNanos <= LONGEST_WAIT_NANOS * most / Math.max(1, ahead);
        return isQuick && !isClosed ? ahead : 0;
    }

    /**
     * Lends no more, and waits until nothing is in hand.
     *
     * @return how much of the time is left
     */
    Duration drain(Duration timeout) {
        long left = timeout.toNanos();
        lock.lock();
        try {
            isClosed = true;
            while (inHand > 0 && left > 0) {
                left = fewer.awaitNanos(left);
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return Duration.ofNanos(Math.max(0, left));
    }

    private record Waiting(int messages, CompletableFuture<Long> begun) {}
}
