package io.exactlyonce.listener.container;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts what a consumer has taken, or has under way, so that it can be bounded and awaited. */
final class Counter {

    private final AtomicInteger count;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** @param count holds how much it is, for others to read */
    Counter(AtomicInteger count) {
        this.count = count;
    }

    void add(int by) {
        lock.lock();
        try {
            count.addAndGet(by);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    int get() {
        return count.get();
    }

    /** Waits until it is so little or less; returns whether it is. */
    boolean awaitAtMost(int most, Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lockInterruptibly();
        try {
            while (count.get() > most && left > 0) {
                left = changed.awaitNanos(left);
            }
            return count.get() <= most;
        } finally {
            lock.unlock();
        }
    }
}
