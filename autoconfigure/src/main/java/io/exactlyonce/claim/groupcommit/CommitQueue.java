package io.exactlyonce.claim.groupcommit;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Entries of calls that wait for the store, in the order in which they came. {@link #delay} decides when a flusher takes a batch;
 * ends go before claims.
 *
 * <p>Of one key there is one entry on its way to the store at a time, or several claims in one batch. So a release cannot
 * overtake the claim that it gives up, two flushers do not wait for each other's rows, and no batch ends a claim twice.
 */
final class CommitQueue {

    /** A batch takes a few milliseconds: if an entry waits for this long, the flusher under way is stuck. */
    static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A small part of the few milliseconds that a batch takes, and longer than the quick handlers of one poll lie apart. */
    static final long GATHER_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /** From this part of a full batch on another flusher helps; below, it would only halve the batches. */
    private static final int HELP_FROM = 8;

    private static final long IDLE_NANOS = TimeUnit.HOURS.toNanos(1);

    /** Most characters of a batch's results together, unless one alone has more. */
    private static final int MAX_WEIGHT = 4_000_000;

    /** What joins the end of a claim in its batch: no other entry of the same key. */
    private static final Object NOTHING = new Object();

    private final GroupCommitSettings settings;
    private final NanoClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Deque<Entry> waiting = new ArrayDeque<>();

    /** The keys that are on their way to the store, and what may join each: claims of its batch, or nothing. */
    private final Map<ClaimKey, Object> onTheirWay = new HashMap<>();

    private int flushing;
    private boolean closed;

    CommitQueue(GroupCommitSettings settings, NanoClock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Lets entries wait for their batches; returns false if the queue is closed, and none waits. */
    boolean add(List<Entry> entries) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            boolean wasEmpty = waiting.isEmpty();
            waiting.addAll(entries);
            if (wasEmpty || delay() <= 0) {
                work.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a batch. It is empty when the queue is closed, and all is flushed. */
    List<Entry> take() {
        lock.lock();
        try {
            while (true) {
                long delay = delay();
                List<Entry> batch = delay <= 0 ? select() : List.of();
                if (!batch.isEmpty() || (closed && waiting.isEmpty())) {
                    return batch;
                }
                // Nothing can go at once if the keys of all that waits are on their way.
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
            var unused = work.awaitNanos(nanos);
        } catch (InterruptedException meaningless) {
            // Flushers end when the queue is closed, and not before.
        }
    }

    /**
     * Returns for how many nanoseconds a flusher leaves what waits where it is; it takes a batch from zero on. While a batch is on
     * its way, what comes shares the next one. While none is, completions for which no caller waits gather for a moment, since the
     * quick handlers of one poll end together; anything else goes at once, and takes them along.
     */
    long delay() {
        if (waiting.isEmpty()) {
            return IDLE_NANOS;
        }
        if (closed || waiting.size() * HELP_FROM >= settings.maxBatch()) {
            return 0;
        }
        long age = clock.nanoTime() - waiting.getFirst().call().since();
        if (flushing > 0) {
            return STUCK_NANOS - age;
        }
        for (Entry entry : waiting) {
            if (entry.call().isAwaited()) {
                return 0;
            }
        }
        return GATHER_NANOS - age;
    }

    private List<Entry> select() {
        List<Entry> batch = new ArrayList<>();
        select(batch, false);
        select(batch, true);
        if (!batch.isEmpty()) {
            flushing++;
            if (!waiting.isEmpty()) {
                work.signal();
            }
        }
        return batch;
    }

    private void select(List<Entry> batch, boolean isForClaims) {
        Object company = isForClaims ? batch : NOTHING;
        int weight = 0;
        for (Iterator<Entry> each = waiting.iterator(); each.hasNext() && batch.size() < settings.maxBatch(); ) {
            Entry entry = each.next();
            boolean fits = weight == 0 || weight + entry.weight() <= MAX_WEIGHT;
            if (entry.isClaim() != isForClaims || !fits) {
                continue;
            }
            Object present = onTheirWay.putIfAbsent(entry.key(), company);
            if (present == null || (present == company && isForClaims)) {
                each.remove();
                batch.add(entry);
                weight += entry.weight();
            }
        }
    }

    /** A batch is back from the store: the next entries of its keys may go. */
    void returned(List<Entry> batch) {
        lock.lock();
        try {
            flushing--;
            for (Entry entry : batch) {
                onTheirWay.remove(entry.key());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes back what has waited for this long, to be refused. What is not among it is on its way to the store, or answered. */
    List<Entry> withdraw(long nanos) {
        lock.lock();
        try {
            long now = clock.nanoTime();
            List<Entry> withdrawn = new ArrayList<>();
            waiting.removeIf(entry -> now - entry.call().since() >= nanos && withdrawn.add(entry));
            return withdrawn;
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

    /**
     * What a call asks for one key.
     *
     * @param request a {@link ClaimRequest}, or a {@link ClaimEnd}
     * @param index of its answer in the call
     */
    record Entry(Object request, Call<?> call, int index) {

        boolean isClaim() {
            return request instanceof ClaimRequest;
        }

        ClaimKey key() {
            return request instanceof ClaimRequest claim
                    ? claim.key()
                    : ((ClaimEnd) request).claim().key();
        }

        /** Returns the characters that its batch carries beyond the usual few. */
        private int weight() {
            String result = request instanceof ClaimEnd.Completed completion ? completion.result() : null;
            return result == null ? 0 : result.length();
        }

        /** Notes an answer, or why there is none; only the thread that took the entry out of the queue does. */
        void note(Object answer) {
            call.answers.set(index, answer);
        }
    }

    /**
     * A call, and its one future.
     *
     * @param isAwaited whether its caller, or what follows it, waits for the answer
     * @param since when it was made, by the clock
     * @param reply makes its answer of those to its entries
     * @param answers to its entries: a {@link ClaimOutcome}, a {@link ClaimBatch.Result}, or a {@link RuntimeException} each
     * @param open how many entries wait or are on their way, and one more until all are queued
     */
    record Call<R>(
            boolean isAwaited,
            long since,
            Function<List<Object>, R> reply,
            List<Object> answers,
            AtomicInteger open,
            CompletableFuture<R> future) {

        static <R> Call<R> of(int entries, boolean isAwaited, long since, Function<List<Object>, R> reply) {
            List<Object> answers = Arrays.asList(new Object[entries]);
            return new Call<>(
                    isAwaited, since, reply, answers, new AtomicInteger(entries + 1), new CompletableFuture<>());
        }

        /** One entry is on its way no more. The thread of the last one answers the call, and does what depends on that. */
        void end() {
            if (open.decrementAndGet() > 0) {
                return;
            }
            try {
                requireAnswers();
                future.complete(reply.apply(answers));
            } catch (RuntimeException failure) {
                future.completeExceptionally(failure);
            }
        }

        /**
         * @throws ClaimStoreBusyException if nothing of the call was asked of the store
         * @throws RuntimeException otherwise one that an entry ended with
         */
        private void requireAnswers() {
            RuntimeException failure = null;
            boolean isAsked = false;
            for (@Nullable Object answer : answers) {
                isAsked |= !(answer instanceof ClaimStoreBusyException);
                if (answer == null) {
                    failure = new ClaimStoreUnavailableException("The store's answer was lost in a crash", null);
                } else if (answer instanceof RuntimeException failed) {
                    failure = failed;
                }
            }
            if (isAsked && failure instanceof ClaimStoreBusyException) {
                failure = new ClaimStoreUnavailableException(
                        "The store was not asked for all that a call wanted", failure);
            }
            if (failure != null) {
                throw failure;
            }
        }
    }
}
