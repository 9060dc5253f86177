package io.exactlyonce.listener.permits;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

/**
 * Counts what a listener has under way beside its permits, so that it can be bounded and awaited: polls that wait for messages, and
 * deliveries whose handlers have ended, and whose outcome is not on record yet, and acted on.
 */
public final class UnderWay {

    private final int most;
    private final IntConsumer changed;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition fewer = lock.newCondition();
    private int count;

    /**
     * Counts from none.
     *
     * @param most how many there may be before the listener stops polling
     * @param changed told how many there are after each change, in their order
     */
    public UnderWay(int most, IntConsumer changed) {
        this.most = most;
        this.changed = changed;
    }

    /** One more is under way until this completes. */
    public void add(CompletableFuture<?> ended) {
        if (ended.isDone()) {
            return;
        }
        change(1);
        var unused = ended.whenComplete((done, failure) -> change(-1));
    }

    private void change(int by) {
        lock.lock();
        try {
            count += by;
            fewer.signalAll();
            changed.accept(count);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the listener may poll; returns whether it may. */
    boolean awaitRoom(Duration longest) throws InterruptedException {
        return await(most, longest);
    }

    /** Waits until nothing is under way; returns whether nothing is. */
    boolean awaitNone(Duration longest) {
        try {
            return await(1, longest);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean await(int below, Duration longest) throws InterruptedException {
        long left = longest.toNanos();
        lock.lockInterruptibly();
        try {
            while (count >= below && left > 0) {
                left = fewer.awaitNanos(left);
            }
            return count < below;
        } finally {
            lock.unlock();
        }
    }
}
