package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimStoreBusyException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Hands entries from callers to flushers. A batch is whatever waits when a flusher is free: nobody waits for it to fill.
 * Callers that only add take no lock: a whole batch of them wakes up at once, and they would only wait for each other.
 */
final class ClaimQueue {

    /** From this part of a full batch on a second flusher helps the first; below, it would only halve the batches. */
    private static final int HELP_FROM = 8;

    private static final long CLOSING_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CoalescingSettings terms;
    private final WaitingRoom room;
    private final Queue<PendingCall> arrivals = new ConcurrentLinkedQueue<>();
    private final Queue<Thread> idle = new ConcurrentLinkedQueue<>();
    private volatile boolean urgent;
    private volatile boolean handedOver;
    private volatile boolean quiet = true;
    private volatile boolean closed;

    /** Of flushers, and of callers that flush, for what is below; held for moments only. */
    private final ReentrantLock lock = new ReentrantLock();

    private final WaitingEntries waiting;

    /** An urgent call found all flushers busy, and is for the next one. */
    private boolean hasty;

    private final AtomicInteger flushing = new AtomicInteger();

    ClaimQueue(CoalescingSettings terms, WaitingRoom room) {
        this.terms = terms;
        this.room = room;
        this.waiting = new WaitingEntries(terms.maxBatch());
    }

    /**
     * Lets a call's entries, all of one kind, wait for their batch as soon as there is room.
     *
     * @throws ClaimStoreBusyException if there is none in time, if the thread was interrupted meanwhile, or if the queue is
     *     closed
     */
    void add(List<PendingCall> entries) {
        room.enter(entries.get(0).kind(), entries.size(), () -> closed);
        arrivals.addAll(entries);
        if (closed) {
            // Maybe no flusher looks any more.
            entries.forEach(this::refuse);
        }
    }

    /** Has a flusher see to what was added. */
    void call() {
        if (flushing.get() == 0 || isMuch()) {
            wakeFlusher();
        }
    }

    /**
     * Tells whether a caller had better flush for itself what it has added: nothing is on its way, and the last batch was one
     * caller's, so that there is hardly anybody to share a batch with, and waking a flusher would take longer than the batch.
     */
    boolean isQuiet() {
        return quiet && flushing.get() == 0;
    }

    /** A caller has flushed a batch: others may have come meanwhile. */
    void handOver() {
        handedOver = true;
        if (room.count() > 0) {
            wakeFlusher();
        }
    }

    /** Takes an entry back, unless it is on its way to the store. */
    boolean withdraw(PendingCall entry) {
        boolean withdrawn = entry.withdraw();
        if (withdrawn) {
            room.leave(entry);
        }
        return withdrawn;
    }

    /** Calls the second flusher: an entry has waited for long, so the first may be stuck. */
    void hurry() {
        urgent = true;
        wakeFlusher();
    }

    private void wakeFlusher() {
        Thread flusher = idle.poll();
        if (flusher != null) {
            LockSupport.unpark(flusher);
        }
    }

    /** Waits for work. The batch is empty when the queue is closed and all is flushed. */
    List<PendingCall> next() {
        while (true) {
            List<PendingCall> batch = takeIfWorthwhile();
            if (!batch.isEmpty()) {
                return batch;
            }
            if (closed && room.count() == 0) {
                return batch;
            }
            // In this order: whoever adds an entry first shows it, and then looks for idle flushers.
            idle.add(Thread.currentThread());
            if (closed) {
                LockSupport.parkNanos(this, CLOSING_CHECK_NANOS);
            } else if (!urgent && !handedOver && (arrivals.isEmpty() || !isWorthwhile(false))) {
                LockSupport.park(this);
            }
            idle.remove(Thread.currentThread());
            // Nobody has reason to interrupt a flusher, and one that stays interrupted would never park again.
            var unused = Thread.interrupted();
        }
    }

    /** Callers that flush count as flushers: each needs a connection. */
    private boolean isWorthwhile(boolean calledInHaste) {
        int busy = flushing.get();
        return busy == 0 || (busy < terms.flushers() && (calledInHaste || closed || isMuch()));
    }

    private boolean isMuch() {
        return room.count() * HELP_FROM >= terms.maxBatch();
    }

    /** Returns a batch, or nothing if there is none or it had better grow. */
    List<PendingCall> takeIfWorthwhile() {
        lock.lock();
        try {
            // Before anything is looked at: whoever calls after that is heard by the next look.
            hasty |= urgent;
            urgent = false;
            handedOver = false;
            if (!isWorthwhile(hasty)) {
                return List.of();
            }
            moveArrivals();
            List<PendingCall> batch = waiting.take();
            if (!batch.isEmpty()) {
                hasty = false;
                flushing.incrementAndGet();
                batch.forEach(room::leave);
                quiet = PendingCall.areOfOneCaller(batch);
            }
            return batch;
        } finally {
            lock.unlock();
        }
    }

    private void moveArrivals() {
        for (PendingCall entry = arrivals.poll(); entry != null; entry = arrivals.poll()) {
            waiting.add(entry);
        }
    }

    /** Lets the next entries of a batch's keys go. */
    void returned(List<PendingCall> batch) {
        lock.lock();
        try {
            waiting.returned(batch);
        } finally {
            lock.unlock();
        }
    }

    /** A flusher is about to look for more: only now, so that the callers that it woke up do not wake another one. */
    void finished() {
        flushing.decrementAndGet();
    }

    /** Takes no more entries; those that wait are still flushed. */
    void close() {
        closed = true;
        for (Thread flusher = idle.poll(); flusher != null; flusher = idle.poll()) {
            LockSupport.unpark(flusher);
        }
    }

    /** Tells whether a batch is on its way to the store. */
    boolean isFlushing() {
        return flushing.get() > 0;
    }

    /** Refuses what still waits. */
    void refuseAll() {
        lock.lock();
        try {
            moveArrivals();
            waiting.all().forEach(this::refuse);
        } finally {
            lock.unlock();
        }
    }

    private void refuse(PendingCall entry) {
        if (withdraw(entry)) {
            entry.fail(WaitingRoom.closed());
            entry.settle();
        }
    }
}
