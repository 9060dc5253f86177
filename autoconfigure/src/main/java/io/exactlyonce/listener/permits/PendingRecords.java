package io.exactlyonce.listener.permits;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The deliveries of one subscription whose handlers have ended, and whose outcome is not on record yet. They hold neither
 * thread nor permit, so that something else has to bound them: a crash would repeat the effects of all of them.
 */
public final class PendingRecords {

    private final Subscription subscription;
    private final int most;
    private final DeliveryObserver observer;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition fewer = lock.newCondition();
    private int pending;

    /**
     * Makes an empty one.
     *
     * @param most how many there may be before the listener stops polling
     */
    public PendingRecords(Subscription subscription, int most, DeliveryObserver observer) {
        this.subscription = subscription;
        this.most = most;
        this.observer = observer;
    }

    /**
     * A handler has ended.
     *
     * @param settled completes when its outcome is on record and was acted on
     */
    public void add(CompletableFuture<?> settled) {
        if (!settled.isDone()) {
            change(1);
            var unused = settled.whenComplete((done, failure) -> change(-1));
        }
    }

    private void change(int by) {
        lock.lock();
        try {
            pending += by;
            observer.completing(subscription, pending);
            fewer.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean hasRoom() {
        lock.lock();
        try {
            return pending < most;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the listener may poll; returns whether it may. */
    boolean awaitRoom(Duration longest) throws InterruptedException {
        return await(most, longest);
    }

    /** Waits until all outcomes are on record; returns whether they are. */
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
            while (pending >= below && left > 0) {
                left = fewer.awaitNanos(left);
            }
            return pending < below;
        } finally {
            lock.unlock();
        }
    }
}
