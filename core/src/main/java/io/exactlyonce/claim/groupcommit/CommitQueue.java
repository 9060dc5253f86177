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
 * The queue of {@link GroupCommitClaimStore}. Calls wait here until a thread (a flusher) takes them as a batch and
 * sends the batch to the store. In a batch, resolutions come before claims. A call is never split between batches.
 *
 * <p>While a batch is being sent, all other calls for its keys wait. A batch may contain several claims of one key. But
 * if it contains a resolution of a key, it contains no other call for this key. Therefore:
 *
 * <ul>
 *   <li>A release cannot overtake the claim that it releases.
 *   <li>Two flushers never wait for the same row.
 *   <li>No batch resolves a claim twice.
 * </ul>
 */
final class CommitQueue {

    /**
     * Time for which a call waits while another batch is being sent. After this time, the flusher of that batch counts
     * as stuck, and another flusher takes the waiting calls. A batch normally takes a few milliseconds.
     */
    static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * Completions and releases for which no caller waits are delayed by at most this time, in order to share a batch
     * with others. Handlers of messages that were received together often end within it. The delay is small compared
     * with the time of a request to the store.
     */
    static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /**
     * If the waiting requests fill an eighth of a batch, a second flusher sends them while the first one is busy. Fewer
     * requests wait until the first flusher is free, because one large batch is cheaper than two small ones.
     */
    private static final int HELP_FROM = 8;

    private static final long IDLE_NANOS = TimeUnit.HOURS.toNanos(1);

    /**
     * Limit of the total length of all results in a batch, in characters. A call whose own results are longer is sent
     * without other resolutions.
     */
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
     * True if the last call with resolutions shared its batch with no other such call. Few calls arrive then, so
     * waiting for others would only cost time.
     */
    private boolean wasAlone;

    CommitQueue(GroupCommitSettings settings, NanoClock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Adds a call, and returns true. Returns false if the queue is closed. */
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

    /** Waits for the next batch. Returns an empty batch if the queue is closed and no call is left. */
    List<QueuedCall> take() {
        lock.lock();
        try {
            while (true) {
                long wait = untilNextFlush();
                List<QueuedCall> batch = wait <= 0 ? takeBatch() : List.of();
                if (!batch.isEmpty() || (closed && waiting.isEmpty())) {
                    return batch;
                }
                // If it is time for a batch, but the batch is empty, all waiting calls have keys that are being sent.
                // The flusher then waits a moment before it tries again.
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
     * Returns the time at which a flusher should take the next batch, by the monotonic clock. A time in the past means
     * at once.
     * <ul>
     *   <li>If the queue is closed, or many calls wait in it: at once.
     *   <li>If a batch is being sent: when the oldest call has waited for {@link #STUCK_NANOS}.
     *   <li>If no batch is being sent, and a call in the queue has a caller that waits for its answer: at once.
     *   <li>If no batch is being sent, and no caller waits: when the oldest call has waited for {@link #GATHER_NANOS}.
     *       At once if the last batch had a single call ({@link #wasAlone}).
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

    /** Moves the calls that can be sent now into a batch, which may be empty. */
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
     * Moves waiting resolutions into an empty batch, and returns their number. A call stays in the queue if one of its
     * keys is being sent, or is already in the batch.
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
            // Later calls with these keys must not overtake this call, or be in the same batch.
            blocked.addAll(call.keys());
        }
        return entries;
    }

    /**
     * Moves waiting claims into a batch. A batch may contain several claims of one key.
     *
     * @param before how many resolutions the batch already contains
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
                // Later claims of these keys must not overtake this call.
                blocked.addAll(call.keys());
            }
        }
    }

    /** Records that a batch was answered, so that the next calls with its keys can be sent. */
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
     * Removes and returns the calls that have waited this long or longer. Calls that are already being sent are not
     * removed.
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

    /** Rejects new calls. Calls that already wait are still sent. */
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
     * @param given the outcomes of this call's claims, in order, and the answers to all resolutions of the batch, among
     *     them those of this call
     * @param askedAt when the batch was sent, by the clock
     */
    record Answer(ClaimBatch.Result given, long askedAt) {}

    /**
     * A call that waits to be sent.
     *
     * @param asked resolutions or claims, never both
     * @param isAwaited whether the call is urgent. If not, the queue may delay it a little, to send it together with
     *     other calls
     * @param since when the call was made, by the clock
     * @param answer the future that the caller got. The thread that takes the call out of the queue completes this
     *     future
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

        /** Returns the total length of the call's results, in characters. */
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
