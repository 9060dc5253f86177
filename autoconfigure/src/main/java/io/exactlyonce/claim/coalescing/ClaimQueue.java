package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import io.exactlyonce.time.NanoClock;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * What waits for the store, and the rule which entries share a batch: whatever waits when a flusher is free. Only completions
 * wait for more of their kind, half a millisecond at most, and only while handlers whose claims were made in the latest batches
 * are at work: the handlers of one poll, if they are quick, end together. Anything else that comes takes them along at once.
 *
 * <p>Of one key there is one entry on its way to the store at a time, or several claims in one batch. So a release cannot
 * overtake the claim that it gives up, two flushers do not wait for each other's rows, and no batch ends a claim twice.
 */
final class ClaimQueue {

    /** From this part of a full batch on a second flusher helps the first; below, it would only halve the batches. */
    private static final int HELP_FROM = 8;

    /** A batch takes a few milliseconds: if none was taken for this long, the flusher under way is stuck. */
    private static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A small part of the few milliseconds that a batch takes, and longer than the quick handlers of one poll lie apart. */
    private static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    private final CoalescingSettings settings;
    private final NanoClock clock;
    private final long gatherNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final WaitingCalls waiting;
    private final Set<ClaimKey> onTheirWay = new HashSet<>();
    private int flushing;
    private int watching;
    private int gathering;
    private long taken;

    /** Claims that were made lately and have not ended since, so that completions may come soon. */
    private int companions;

    private boolean closed;

    ClaimQueue(CoalescingSettings settings, NanoClock clock) {
        this(settings, clock, GATHER_NANOS);
    }

    ClaimQueue(CoalescingSettings settings, NanoClock clock, long gatherNanos) {
        this.settings = settings;
        this.clock = clock;
        this.gatherNanos = gatherNanos;
        this.waiting = new WaitingCalls(settings.maxBatch());
    }

    /** Lets a call's entries, all claims or all ends, wait for their batch; returns false if the queue is closed, and none waits. */
    boolean add(List<? extends PendingCall<?>> entries) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            waiting.add(entries);
            if (entries.get(0).kind() != Kind.CLAIM) {
                companions = Math.max(0, companions - entries.size());
            }
            boolean isGathered = isGathering() && gathering > 0;
            if ((flushing == 0 && !isGathered) || isMuch() || watching == 0) {
                work.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Takes entries back that wait, to be refused. What is not among them is on its way to the store, or answered. */
    List<PendingCall<?>> withdraw(Predicate<PendingCall<?>> which) {
        lock.lock();
        try {
            return waiting.remove(which);
        } finally {
            lock.unlock();
        }
    }

    /** Takes back those that have waited until their deadlines. */
    List<PendingCall<?>> withdrawOverdue() {
        long now = clock.nanoTime();
        return withdraw(entry -> entry.deadline() - now <= 0);
    }

    /** Returns how long it takes until the first entry that waits is overdue, in nanoseconds; empty if none waits. */
    OptionalLong untilFirstDeadline() {
        lock.lock();
        try {
            return waiting.untilFirstDeadline(clock.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a batch. It is empty when the queue is closed and all is flushed. */
    List<PendingCall<?>> take() {
        lock.lock();
        try {
            boolean stuck = false;
            while (true) {
                List<PendingCall<?>> batch = isWorthwhile(stuck) ? select() : List.of();
                if (!batch.isEmpty() || (closed && waiting.count() == 0)) {
                    return batch;
                }
                stuck = awaitWork();
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isWorthwhile(boolean stuck) {
        return (flushing == 0 && !isGathering()) || stuck || closed || isMuch();
    }

    /** Returns whether all that waits are completions, and others may come soon. */
    private boolean isGathering() {
        return companions > 0 && waiting.count() == waiting.count(Kind.COMPLETION);
    }

    /**
     * Returns whether entries have waited for long, and no flusher has taken any. Where completions were gathered, handlers take
     * longer than is worth waiting for: none waits again for those that are at work now. The loop is that of {@link #take}.
     */
    @SuppressWarnings("WaitNotInLoop")
    private boolean awaitWork() {
        boolean gathers = flushing == 0;
        try {
            if (waiting.count() == 0) {
                work.await();
                return false;
            }
            watching++;
            gathering += gathers ? 1 : 0;
            try {
                long before = taken;
                boolean isInVain = work.awaitNanos(gathers ? gatherNanos : STUCK_NANOS) <= 0 && taken == before;
                companions = gathers && isInVain ? 0 : companions;
                return isInVain;
            } finally {
                watching--;
                gathering -= gathers ? 1 : 0;
            }
        } catch (InterruptedException meaningless) {
            // Flushers end when the queue is closed, and not before.
            return false;
        }
    }

    /** Selects what may go now: ends before claims, and those of a kind in the order in which they came. */
    private List<PendingCall<?>> select() {
        List<PendingCall<?>> batch = waiting.removeBatch(onTheirWay);
        if (!batch.isEmpty()) {
            flushing++;
            taken++;
            if (isMuch()) {
                work.signal();
            }
        }
        return batch;
    }

    /** A batch is back from the store: the next entries of its keys may go. */
    void returned(List<PendingCall<?>> batch) {
        lock.lock();
        try {
            flushing--;
            for (PendingCall<?> entry : batch) {
                onTheirWay.remove(entry.key());
                companions += entry.isAcquired() ? 1 : 0;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes no more entries; those that wait are still flushed. */
    void close() {
        lock.lock();
        try {
            closed = true;
            work.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private boolean isMuch() {
        return waiting.count() * HELP_FROM >= settings.maxBatch();
    }

    ClaimStoreBusyException busy() {
        return new ClaimStoreBusyException(
                ("Nothing was asked of the store, for it was busy for %d ms: find out what slows the database down, lower"
                                + " the concurrency of listeners, or raise exactly-once.claim.coalescing.patience")
                        .formatted(settings.patience().toMillis()));
    }

    static ClaimStoreBusyException closed() {
        return new ClaimStoreBusyException("Nothing was asked of the store: claims have stopped with the application");
    }
}
