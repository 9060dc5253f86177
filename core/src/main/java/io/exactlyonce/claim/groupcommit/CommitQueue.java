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
 * Calls that wait for the store, in order of arrival. {@link #nextFlushAt} decides when a flusher takes a batch;
 * resolutions precede claims. A call is never split. It waits until none of its keys is in a batch that is being sent.
 *
 * <p>For each key, either one call is being sent at a time, or one batch with several claims. So a release cannot
 * overtake the claim that it releases, two flushers do not wait for each other's rows, and no batch resolves a claim
 * twice.
 */
final class CommitQueue {

    /** A batch takes a few milliseconds. If a call waits this long, the flusher that is sending is stuck. */
    static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * How long a single completion waits for others. Longer than the time between the quick handlers of one poll, and
     * short compared with a batch, which takes milliseconds.
     */
    static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /**
     * Another flusher helps if one in this number of a full batch's entries waits. With fewer entries, it would only
     * halve the batches.
     */
    private static final int HELP_FROM = 8;

    private static final long IDLE_NANOS = TimeUnit.HOURS.toNanos(1);

    /** Most characters of all results in a batch. A single call may have more. */
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
     * True if the last batch of resolutions had one call. Under low load nothing else arrives, so waiting only adds
     * latency.
     */
    private boolean wasAlone;

    CommitQueue(GroupCommitSettings settings, NanoClock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Adds a call; returns false if the queue is closed, and the call was not added. */
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

    /** Waits for a batch; returns an empty one when the queue is closed and everything is flushed. */
    List<QueuedCall> take() {
        lock.lock();
        try {
            while (true) {
                long wait = untilNextFlush();
                List<QueuedCall> batch = wait <= 0 ? takeBatch() : List.of();
                if (!batch.isEmpty() || (closed && waiting.isEmpty())) {
                    return batch;
                }
                // A batch that is due is empty because every waiting call shares a key with a batch that is being sent.
                awaitWork(wait <= 0 ? STUCK_NANOS : wait);
            }
        } finally {
            lock.unlock();
        }
    }

    private long untilNextFlush() {
        return nextFlushAt() - clock.nanoTime();
    }

    /** Waits for a signal or a timeout. {@link #take} has the loop. */
    @SuppressWarnings("WaitNotInLoop")
    private void awaitWork(long nanos) {
        try {
            work.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException meaningless) {
            // An interrupt does not end a flusher: it ends when the queue is closed.
        }
    }

    /**
     * Returns when a flusher takes the next batch, by the clock. A time in the past means at once.
     *
     * <ul>
     *   <li>A queue that is closed, or has enough for another batch, is flushed at once.
     *   <li>While a batch is being sent, calls gather for the next one, unless that flusher is stuck.
     *   <li>A call whose caller waits is sent at once, and takes the others along.
     *   <li>Completions for which no caller waits gather for a moment, because the quick handlers of one poll end
     *       together. If the last completion was alone in its batch, the next one is sent at once.
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

    /** Moves the calls that may be sent now into a batch. The batch is empty if there are none. */
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
     * Moves waiting resolutions into an empty batch, at most one call for each key. Returns the number of their
     * entries.
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
            // Later calls for these keys stay behind this one, whether it was moved or not.
            blocked.addAll(call.keys());
        }
        return entries;
    }

    /**
     * Moves waiting claims into a batch. Claims of one key are sent together.
     *
     * @param before the entries that the batch has already
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
                // This claim waits, and later claims of its keys wait behind it.
                blocked.addAll(call.keys());
            }
        }
    }

    /** Marks the keys of a batch as no longer being sent, so that the next calls for these keys can be sent. */
    void returned(List<QueuedCall> batch) {
        lock.lock();
        try {
            flushing--;
            batch.forEach(call -> call.keys().forEach(beingSent::remove));
        } finally {
            lock.unlock();
        }
    }

    /** Removes calls that have waited this long, and returns them to be rejected. Calls that are being sent stay. */
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

    /** Rejects further calls; waiting ones are still flushed. */
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
     * @param given the call's own outcomes in order, and the recorded resolutions of the whole batch
     * @param askedAt when the batch was sent, by the clock
     */
    record Answer(ClaimBatch.Result given, long askedAt) {}

    /**
     * A call, and its one future.
     *
     * @param asked either resolutions or claims
     * @param keys their keys
     * @param isAwaited whether a caller, or the next message of a group, waits for the answer
     * @param since when the call was made, by the clock
     * @param answer completed by the thread that took the call out of the queue
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
