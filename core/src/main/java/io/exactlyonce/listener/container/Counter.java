package io.exactlyonce.listener.container;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts messages or tasks that a consumer has in progress, so that their number can be bounded and awaited. */
final class Counter {

    private final AtomicInteger count;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final AtomicInteger waiters = new AtomicInteger();

    /** @param count holds the number, so that other classes can read it */
    Counter(AtomicInteger count) {
        this.count = count;
    }

    /**
     * Adds to the number. The lock is taken only if a thread waits, because this method is called about four times for
     * each message, and threads rarely wait.
     */
    void add(int by) {
        count.addAndGet(by);
        // A thread that starts to wait after this line reads the new count, so it needs no signal.
        if (waiters.get() > 0) {
            lock.lock();
            try {
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    int get() {
        return count.get();
    }

    /** Waits until the number is at most {@code most}. Returns false on timeout. */
    boolean awaitAtMost(int most, Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lockInterruptibly();
        try {
            waiters.incrementAndGet();
            while (count.get() > most && left > 0) {
                left = changed.awaitNanos(left);
            }
            return count.get() <= most;
        } finally {
            waiters.decrementAndGet();
            lock.unlock();
        }
    }
}
