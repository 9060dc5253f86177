package io.exactlyonce.listener.container;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts messages or tasks in progress. Threads can wait until there are few enough of them. */
final class Counter {

    private final AtomicInteger count;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final AtomicInteger waiters = new AtomicInteger();

    /** @param count may be shared with a metric, which only reads it */
    Counter(AtomicInteger count) {
        this.count = count;
    }

    /**
     * Adds to the count, and wakes threads that wait. The lock is taken only if a thread waits, because this method is
     * called often.
     */
    void add(int by) {
        count.addAndGet(by);
        // The new count is already set. A thread that begins to wait after this line sees it, so only earlier threads
        // must be woken.
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

    /** Waits until the count is at most {@code most}. Returns false on timeout. */
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
