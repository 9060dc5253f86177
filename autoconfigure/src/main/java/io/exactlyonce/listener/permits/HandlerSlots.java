package io.exactlyonce.listener.permits;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

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

    private final Turns slots;
    private final int ahead;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition fewer = lock.newCondition();
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
        this.slots = new Turns(most, clock);
        this.ahead = ahead;
        this.clock = clock;
    }

    int most() {
        return slots.most();
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
        return slots.take(messages);
    }

    /**
     * A message that had a slot leaves.
     *
     * @param begunAt when its slot was taken
     * @return whether its permit is to be given back
     */
    public boolean end(long begunAt) {
        boolean isReleased;
        lock.lock();
        try {
            long took = Math.max(0, clock.nanoTime() - begunAt);
            typicalNanos = typicalNanos == Long.MAX_VALUE ? took : typicalNanos + (took - typicalNanos) / SMOOTHING;
            isReleased = leaveHand();
        } finally {
            lock.unlock();
        }
        slots.giveBack(1);
        return isReleased;
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
        boolean isQuick = typicalNanos <= LONGEST_WAIT_NANOS * slots.most() / Math.max(1, ahead);
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
}
