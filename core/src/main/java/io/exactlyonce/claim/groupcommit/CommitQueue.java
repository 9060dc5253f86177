package io.exactlyonce.claim.groupcommit;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Calls that wait for the store, in order of arrival. {@link #nextFlushAt} decides when a flusher takes a batch. In a
 * batch, resolutions come before claims. A call is never split, and waits while a batch with one of its keys is being
 * sent.
 *
 * <p>For each key, at most one call is being sent at a time, or one batch with several claims of the key. This rule has
 * three effects:
 *
 * <ul>
 *   <li>A release cannot overtake the claim that it releases.
 *   <li>Two flushers do not wait for each other's rows.
 *   <li>No batch resolves a claim twice.
 * </ul>
 */
final class CommitQueue {

    /**
     * The time after which a call no longer waits for the flusher that is sending, and another flusher takes the call.
     * A batch takes a few milliseconds, so a flusher that needs more than this time is stuck.
     */
    static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * The time for which a resolution waits for others, if no caller waits for the resolution. This time is longer than
     * the time between the quick handlers of one poll, and shorter than a batch, which takes milliseconds.
     */
    static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /**
     * Another flusher helps if the waiting entries are at least an eighth of a full batch. With fewer entries, the
     * other flusher would only turn one batch into two smaller ones.
     */
    private static final int HELP_FROM = 8;

    private static final long IDLE_NANOS = TimeUnit.HOURS.toNanos(1);

    /** The most characters of all results in a batch. One call with a longer result is a batch of its own. */
    private static final int MAX_WEIGHT = 4_000_000;

    private final GroupCommitSettings settings;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Deque<QueuedCall> waiting = new ArrayDeque<>();

    /** The keys of all batches that are being sent. */
    private final Set<ClaimKey> beingSent = new HashSet<>();

    private int flushing;
    private boolean closed;

    /**
     * True if the last batch with resolutions had only one call with resolutions. The load is then low, so that a wait
     * for more calls would only add latency.
     */
    private boolean wasAlone;

    CommitQueue(GroupCommitSettings settings, NanoClock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Adds a call. Returns false if the queue is closed, and does not add the call. */
    boolean add(QueuedCall call) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            boolean wasEmpty = waiting.isEmpty();
            waiting.add(call);
            if (wasEmpty || untilNextFlush() <= 0) {
                work.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a batch. Returns an empty batch when the queue is closed and no call waits any more. */
    List<QueuedCall> take() {
        lock.lock();
        try {
            while (true) {
                long wait = untilNextFlush();
                List<QueuedCall> batch = wait <= 0 ? takeBatch() : List.of();
                if (!batch.isEmpty() || (closed && waiting.isEmpty())) {
                    return batch;
                }
                // A batch is due and still empty if every waiting call shares a key with a batch that is being sent.
                awaitWork(wait <= 0 ? STUCK_NANOS : wait);
            }
        } finally {
            lock.unlock();
        }
    }

    private long untilNextFlush() {
        return nextFlushAt() - clock.nanoTime();
    }

    /** Waits for a signal or a timeout. The loop around this wait is in {@link #take}. */
    @SuppressWarnings("WaitNotInLoop")
    private void awaitWork(long nanos) {
        try {
            work.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException meaningless) {
            // An interrupt does not end a flusher. A flusher ends when the queue is closed and empty.
        }
    }

    /**
     * Returns when a flusher takes the next batch, by the clock. A time in the past means at once.
     *
     * <ul>
     *   <li>If the queue is closed, or enough calls wait for another flusher to help, a batch is taken at once.
     *   <li>While a batch is being sent, calls gather for the next batch. If the oldest call has waited for too long,
     *       the flusher that is sending is stuck, and another flusher takes the next batch.
     *   <li>If no batch is being sent, a call whose caller waits is taken at once, together with all other calls.
     *   <li>Resolutions for which no caller waits gather for a moment, because the quick handlers of one poll end
     *       together. If the last resolution was alone in its batch, the next resolution is taken at once.
     * </ul>
     */
    long nextFlushAt() {
        long now = clock.nanoTime();
        if (waiting.isEmpty()) {
            return now + IDLE_NANOS;
        }
        int entries = 0;
        boolean isAwaited = false;
        for (QueuedCall call : waiting) {
            entries += call.keys().size();
            isAwaited |= call.isAwaited();
            if (closed || entries * HELP_FROM >= settings.maxBatch()) {
                return now;
            }
        }
        long oldest = waiting.getFirst().since();
        if (flushing > 0) {
            return oldest + STUCK_NANOS;
        }
        return isAwaited || wasAlone ? now : oldest + GATHER_NANOS;
    }

    /** Moves the calls that may be sent now into a batch. The batch is empty if no call may be sent now. */
    private List<QueuedCall> takeBatch() {
        List<QueuedCall> batch = new ArrayList<>();
        int entries = moveResolutions(batch);
        if (!batch.isEmpty()) {
            wasAlone = batch.size() == 1;
        }
        moveClaims(batch, entries);
        if (!batch.isEmpty()) {
            flushing++;
            if (!waiting.isEmpty()) {
                work.signal();
            }
        }
        return batch;
    }

    /**
     * Moves waiting calls with resolutions into an empty batch. Calls with a key that is being sent, or that is already
     * in the batch, stay. Returns the number of resolutions that were moved.
     */
    private int moveResolutions(List<QueuedCall> batch) {
        Set<ClaimKey> blocked = new HashSet<>(beingSent);
        int entries = 0;
        int weight = 0;
        for (Iterator<QueuedCall> each = waiting.iterator(); each.hasNext() && entries < settings.maxBatch(); ) {
            QueuedCall call = each.next();
            if (call.isClaim()) {
                continue;
            }
            boolean fits = batch.isEmpty() || weight + call.weight() <= MAX_WEIGHT;
            if (fits && Collections.disjoint(blocked, call.keys())) {
                each.remove();
                batch.add(call);
                beingSent.addAll(call.keys());
                entries += call.keys().size();
                weight += call.weight();
            }
            // Later calls for these keys must wait for this call, even if it was moved into the batch.
            blocked.addAll(call.keys());
        }
        return entries;
    }

    /**
     * Moves waiting claims into a batch. Several claims of one key may be in the same batch.
     *
     * @param before the number of entries that are already in the batch
     */
    private void moveClaims(List<QueuedCall> batch, int before) {
        Set<ClaimKey> blocked = new HashSet<>(beingSent);
        int entries = before;
        for (Iterator<QueuedCall> each = waiting.iterator(); each.hasNext() && entries < settings.maxBatch(); ) {
            QueuedCall call = each.next();
            if (!call.isClaim()) {
                continue;
            }
            if (Collections.disjoint(blocked, call.keys())) {
                each.remove();
                batch.add(call);
                beingSent.addAll(call.keys());
                entries += call.keys().size();
            } else {
                // This call waits, and later claims of its keys wait behind it.
                blocked.addAll(call.keys());
            }
        }
    }

    /** Records that a batch is no longer being sent, so that the next calls for its keys can be sent. */
    void returned(List<QueuedCall> batch) {
        lock.lock();
        try {
            flushing--;
            batch.forEach(call -> call.keys().forEach(beingSent::remove));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes the calls that have waited for at least this time, and returns them, so that the caller rejects them.
     * Calls that are being sent are not affected.
     */
    List<QueuedCall> removeOlderThan(long nanos) {
        lock.lock();
        try {
            long now = clock.nanoTime();
            List<QueuedCall> withdrawn = new ArrayList<>();
            waiting.removeIf(call -> now - call.since() >= nanos && withdrawn.add(call));
            return withdrawn;
        } finally {
            lock.unlock();
        }
    }

    /** Rejects further calls. Calls that already wait are still sent. */
    void close() {
        lock.lock();
        try {
            closed = true;
            work.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * The store's answer to a call.
     *
     * @param given the outcomes of the call's own claims, in order, and the answers to all resolutions of the batch
     * @param askedAt when the batch was sent, by the clock
     */
    record Answer(ClaimBatch.Result given, long askedAt) {}

    /**
     * A call, and the future that the caller got.
     *
     * @param asked either resolutions or claims
     * @param keys the keys of the resolutions or claims
     * @param isAwaited whether a caller, or the next message of a FIFO group, waits for the answer
     * @param since when the call was made, by the clock
     * @param answer the future, which the thread that took the call out of the queue completes
     */
    record QueuedCall(
            ClaimBatch asked, List<ClaimKey> keys, boolean isAwaited, long since, CompletableFuture<Answer> answer) {

        static QueuedCall of(ClaimBatch asked, boolean isAwaited, long since) {
            List<ClaimKey> keys = new ArrayList<>();
            for (ClaimResolution resolution : asked.resolutions()) {
                keys.add(resolution.claim().key());
            }
            for (ClaimRequest claim : asked.claims()) {
                keys.add(claim.key());
            }
            return new QueuedCall(asked, keys, isAwaited, since, new CompletableFuture<>());
        }

        boolean isClaim() {
            return asked.resolutions().isEmpty();
        }

        /** Returns the number of characters of the call's results. */
        private int weight() {
            int weight = 0;
            for (ClaimResolution resolution : asked.resolutions()) {
                String result = resolution instanceof ClaimResolution.Completed completion ? completion.result() : null;
                weight += result == null ? 0 : result.length();
            }
            return weight;
        }
    }
}
