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
 * Calls that wait for the store, in order of arrival. {@link #delay} decides when a flusher takes a batch; resolutions
 * precede claims. No call is divided: it is sent when all of its keys may be.
 *
 * <p>For each key, one call is on its way to the store at a time, or several claims in one batch. So a release cannot
 * overtake the claim that it releases, two flushers do not wait for each other's rows, and no batch resolves a claim
 * twice.
 */
final class CommitQueue {

    /** A batch takes a few milliseconds: if a call waits for this long, the flusher under way is stuck. */
    static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A small part of the few milliseconds that a batch takes, and longer than the quick handlers of one poll lie apart. */
    static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /** From this part of a full batch on another flusher helps; below, it would only halve the batches. */
    private static final int HELP_FROM = 8;

    private static final long IDLE_NANOS = TimeUnit.HOURS.toNanos(1);

    /** Most characters of a batch's results together, unless one alone has more. */
    private static final int MAX_WEIGHT = 4_000_000;

    private final GroupCommitSettings settings;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Deque<Call> waiting = new ArrayDeque<>();

    /** The keys that are on their way to the store. */
    private final Set<ClaimKey> onTheirWay = new HashSet<>();

    private int flushing;
    private boolean closed;

    /** The last completion went alone: at low load, to gather costs time and saves nothing. */
    private boolean isQuiet;

    CommitQueue(GroupCommitSettings settings, NanoClock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Lets a call wait for its batch; returns false if the queue is closed, and it does not wait. */
    boolean add(Call call) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            boolean wasEmpty = waiting.isEmpty();
            waiting.add(call);
            if (wasEmpty || delay() <= 0) {
                work.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a batch. It is empty when the queue is closed, and all is flushed. */
    List<Call> take() {
        lock.lock();
        try {
            while (true) {
                long delay = delay();
                List<Call> batch = delay <= 0 ? select() : List.of();
                if (!batch.isEmpty() || (closed && waiting.isEmpty())) {
                    return batch;
                }
                // Nothing can go at once if keys of all that waits are on their way.
                awaitWork(delay <= 0 ? STUCK_NANOS : delay);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The loop is that of {@link #take}. */
    @SuppressWarnings("WaitNotInLoop")
    private void awaitWork(long nanos) {
        try {
            work.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException meaningless) {
            // Flushers end when the queue is closed, and not before.
        }
    }

    /**
     * Returns for how many nanoseconds a flusher delays its next batch; it takes a batch at zero. While a batch is on
     * its way, what comes shares the next one. While none is, completions for which no caller waits gather for a
     * moment, since the quick handlers of one poll end together, unless the last one found no company; anything else
     * goes at once, and takes them along.
     */
    long delay() {
        if (waiting.isEmpty()) {
            return IDLE_NANOS;
        }
        int entries = 0;
        boolean isAwaited = false;
        for (Call call : waiting) {
            entries += call.keys().size();
            isAwaited |= call.isAwaited();
            if (closed || entries * HELP_FROM >= settings.maxBatch()) {
                return 0;
            }
        }
        long age = clock.nanoTime() - waiting.getFirst().since();
        if (flushing > 0) {
            return STUCK_NANOS - age;
        }
        return isAwaited || isQuiet ? 0 : GATHER_NANOS - age;
    }

    private List<Call> select() {
        List<Call> batch = new ArrayList<>();
        int entries = select(batch, false, 0);
        isQuiet = batch.isEmpty() ? isQuiet : batch.size() == 1;
        select(batch, true, entries);
        if (!batch.isEmpty()) {
            flushing++;
            if (!waiting.isEmpty()) {
                work.signal();
            }
        }
        return batch;
    }

    /** Adds ends, or claims, to a batch that has so many entries; returns how many it has then. */
    private int select(List<Call> batch, boolean isForClaims, int before) {
        int entries = before;
        int weight = 0;
        Set<ClaimKey> taken = new HashSet<>(onTheirWay);
        for (Iterator<Call> each = waiting.iterator(); each.hasNext() && entries < settings.maxBatch(); ) {
            Call call = each.next();
            if (call.isClaim() != isForClaims) {
                continue;
            }
            boolean fits = entries == before || weight + call.weight() <= MAX_WEIGHT;
            boolean goes = fits && Collections.disjoint(taken, call.keys());
            if (goes) {
                each.remove();
                batch.add(call);
                onTheirWay.addAll(call.keys());
                entries += call.keys().size();
                weight += call.weight();
            }
            // Claims of one key go together. Nothing overtakes a call that stays.
            if (!goes || !isForClaims) {
                taken.addAll(call.keys());
            }
        }
        return entries;
    }

    /** A batch is back from the store: the next calls for its keys may go. */
    void returned(List<Call> batch) {
        lock.lock();
        try {
            flushing--;
            batch.forEach(call -> call.keys().forEach(onTheirWay::remove));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes calls that have waited for this long, to be rejected. All others are on their way to the store, or
     * answered.
     */
    List<Call> removeOlderThan(long nanos) {
        lock.lock();
        try {
            long now = clock.nanoTime();
            List<Call> withdrawn = new ArrayList<>();
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
     * @param given the call's outcomes in order, and all ends of its batch
     * @param askedAt when its batch went to the store, by the clock
     */
    record Answer(ClaimBatch.Result given, long askedAt) {}

    /**
     * A call, and its one future.
     *
     * @param asked ends, or claims
     * @param keys of these
     * @param isAwaited whether its caller, or what follows it, waits for the answer
     * @param since when it was made, by the clock
     * @param answer is given by the thread that took the call out of the queue
     */
    record Call(
            ClaimBatch asked, List<ClaimKey> keys, boolean isAwaited, long since, CompletableFuture<Answer> answer) {

        static Call of(ClaimBatch asked, boolean isAwaited, long since) {
            List<ClaimKey> keys = new ArrayList<>();
            for (ClaimResolution resolution : asked.resolutions()) {
                keys.add(resolution.claim().key());
            }
            for (ClaimRequest claim : asked.claims()) {
                keys.add(claim.key());
            }
            return new Call(asked, keys, isAwaited, since, new CompletableFuture<>());
        }

        boolean isClaim() {
            return asked.resolutions().isEmpty();
        }

        /** Returns the characters that its batch carries beyond the usual few. */
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
