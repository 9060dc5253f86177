package io.exactlyonce.listener.permits;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Permits of messages that go on after a wait, during which they held none. Each goes on at once, and owes a permit: the next
 * one that is released, by whichever message or poll, pays for it. So more than the listener's number are handled at once only
 * until some other message ends, and never more than twice as many.
 */
final class OwedPermits {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition paid = lock.newCondition();
    private final Deque<CompletableFuture<Void>> waiting = new ArrayDeque<>();
    private final int most;
    private int owed;

    /** @param most how many may be owed at any time; more messages wait for their turn */
    OwedPermits(int most) {
        this.most = most;
    }

    /** Completes when one more may be owed, and is. */
    CompletableFuture<Void> owe() {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        lock.lock();
        try {
            if (owed >= most) {
                waiting.add(turn);
                return turn;
            }
            owed++;
        } finally {
            lock.unlock();
        }
        turn.complete(null);
        return turn;
    }

    /**
     * Pays with released permits.
     *
     * @return how many are left of them
     */
    int pay(int released) {
        Deque<CompletableFuture<Void>> next = new ArrayDeque<>();
        int left;
        lock.lock();
        try {
            left = Math.max(0, released - owed);
            owed -= released - left;
            while (owed < most && !waiting.isEmpty()) {
                next.add(waiting.remove());
                owed++;
            }
            paid.signalAll();
        } finally {
            lock.unlock();
        }
        next.forEach(turn -> turn.complete(null));
        return left;
    }

    /** Waits until none is owed, for so long at most; returns how much of the time is left. */
    Duration awaitPaid(Duration timeout) {
        long left = timeout.toNanos();
        lock.lock();
        try {
            while (owed > 0 && left > 0) {
                left = paid.awaitNanos(left);
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return Duration.ofNanos(Math.max(0, left));
    }

    boolean isPaid() {
        lock.lock();
        try {
            return owed == 0;
        } finally {
            lock.unlock();
        }
    }
}
