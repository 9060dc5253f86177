package io.exactlyonce.claim.groupcommit;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.groupcommit.CommitQueue.Call;
import io.exactlyonce.claim.groupcommit.CommitQueue.Entry;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Group commit: calls of many threads share the store's transactions, and no caller waits. A call's entries wait in a
 * {@link CommitQueue}; flushers take them in batches, which grow with the load, and the last one that is back answers the call.
 *
 * <p>Guaranteed, besides what the store guarantees:
 *
 * <ul>
 *   <li>Renewals go straight to the store, on the thread that calls, so no claim delays them in here.
 *   <li>Ends go before claims.
 *   <li>Entries for one key reach the store one after the other, in no batch together but for claims.
 *   <li>An entry that the store can never take, or whose row is locked, fails alone.
 *   <li>A call is answered, or fails, only when nothing of it is on its way to the store any more, so that no release that a
 *       caller sends after that can be overtaken by its claim. What depends on the answer runs on a flusher, and must not block.
 * </ul>
 *
 * <p>Not guaranteed: the order of entries for different keys. When the store fails, it fails for a whole batch.
 */
public final class GroupCommitClaimStore implements ClaimStore, AsyncClaimStore, AutoCloseable {

    private static final Duration SWEEP_INTERVAL = Duration.ofMillis(100);
    private static final String CLOSED = "Nothing was asked of the store: claims have stopped with the application";
    private static final String BUSY =
            "Nothing was asked of the store, for it was busy for %d ms: find out what slows the database"
                    + " down, lower the concurrency of listeners, or raise exactly-once.claim.coalescing.patience";

    private final ClaimStore store;
    private final GroupCommitSettings settings;
    private final long patience;
    private final String busy;
    private final NanoClock clock;
    private final CommitQueue queue;
    private final List<Thread> flushers = new ArrayList<>();
    private final AtomicBoolean isStarted = new AtomicBoolean();
    private volatile boolean isFlushed;

    /**
     * @param store what answers; closing this does not close it
     * @param settings how calls share batches
     * @param clock monotonic, in nanoseconds
     */
    public GroupCommitClaimStore(ClaimStore store, GroupCommitSettings settings, NanoClock clock) {
        this.store = store;
        this.settings = settings;
        this.patience = settings.patience().toNanos();
        this.busy = BUSY.formatted(settings.patience().toMillis());
        this.clock = clock;
        this.queue = new CommitQueue(settings, clock);
        for (int i = 1; i <= settings.flushers(); i++) {
            // A virtual thread that is interrupted would close its connection, and fail all of a batch.
            Thread flusher = new Thread(null, this::flushUntilClosed, "exactly-once-claims-" + i, 0, false);
            flusher.setDaemon(true);
            flushers.add(flusher);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        return ask(requests, true, answers -> (List<ClaimOutcome>) (List<?>) answers);
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends, boolean isAwaited) {
        return ask(ends, isAwaited, answers -> recorded(ends, answers));
    }

    /**
     * Claims keys. An interrupt does not end the wait, since the claims may be made already.
     *
     * @throws ClaimStoreBusyException if the store was too busy to be asked in time, or after {@link #close()}
     * @throws ClaimStoreUnavailableException if the store failed
     */
    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return join(claimAsync(requests));
    }

    /** Ends claims, and waits as {@link #claim} does. */
    @Override
    public Set<ClaimId> end(List<? extends ClaimEnd> ends) {
        return join(endAsync(ends, true));
    }

    private static <R> R join(CompletableFuture<R> answer) {
        try {
            return answer.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException failure ? failure : failed;
        }
    }

    private <R> CompletableFuture<R> ask(List<?> requests, boolean isAwaited, Function<List<Object>, R> reply) {
        Call<R> call = Call.of(requests.size(), isAwaited, clock.nanoTime(), reply);
        List<Entry> entries = new ArrayList<>(requests.size());
        for (Object request : requests) {
            entries.add(new Entry(request, call, entries.size()));
        }
        if (!queue.add(entries)) {
            refuse(entries, CLOSED);
        } else if (isStarted.compareAndSet(false, true)) {
            // Not before the first call: an application without listeners needs no threads.
            flushers.forEach(Thread::start);
            sweep();
        }
        call.end();
        return call.future();
    }

    /** @param answers to each end the store's answer to its batch */
    private static Set<ClaimId> recorded(List<? extends ClaimEnd> ends, List<Object> answers) {
        Set<ClaimId> recorded = new HashSet<>();
        Set<ClaimId> unanswered = new HashSet<>();
        for (int i = 0; i < answers.size(); i++) {
            ClaimBatch.Result batch = (ClaimBatch.Result) answers.get(i);
            ClaimId claim = ends.get(i).claim();
            if (batch.unanswered().contains(claim)) {
                unanswered.add(claim);
            } else if (batch.recorded().contains(claim)) {
                recorded.add(claim);
            }
        }
        return ClaimsPartlyAnsweredException.requireAll(unanswered, recorded);
    }

    /**
     * Extends leases, on the caller's thread: the one caller is the supervisor, whose calls are large already. More than a batch
     * holds go to the store in chunks, one after the other. A chunk that fails, or that could not begin in time, costs only its own
     * leases their answer.
     *
     * @throws ClaimsPartlyAnsweredException if some leases got no answer
     * @throws RuntimeException if none did
     */
    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> leases) {
        long since = clock.nanoTime();
        Set<ClaimId> held = new HashSet<>();
        Set<ClaimId> unanswered = new HashSet<>();
        RuntimeException failure = null;
        for (int start = 0; start < leases.size(); start += settings.maxBatch()) {
            List<LeaseRenewal> chunk = leases.subList(start, Math.min(start + settings.maxBatch(), leases.size()));
            try {
                if (start > 0 && clock.nanoTime() - since >= patience) {
                    throw new ClaimStoreBusyException(busy);
                }
                held.addAll(store.renew(chunk));
            } catch (ClaimsPartlyAnsweredException some) {
                held.addAll(some.granted());
                unanswered.addAll(some.unanswered());
            } catch (RuntimeException none) {
                chunk.forEach(lease -> unanswered.add(lease.claim()));
                failure = failure == null ? none : failure;
            }
        }
        if (failure == null) {
            return ClaimsPartlyAnsweredException.requireAll(unanswered, held);
        }
        if (unanswered.size() == leases.size()) {
            throw failure;
        }
        throw new ClaimsPartlyAnsweredException(
                "%d of %d leases got no answer: %s".formatted(unanswered.size(), leases.size(), failure.getMessage()),
                unanswered,
                held,
                failure);
    }

    /** One caller looks for all that wait. */
    @Override
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        return store.look(keys);
    }

    /** In the caller's own transaction, which no other caller can share. */
    @Override
    public boolean fence(ClaimId claim) {
        return store.fence(claim);
    }

    /** A crash ends no flusher. */
    private void flushUntilClosed() {
        while (!isFlushed) {
            Boundary.guard("A flusher of claims", this::flush);
        }
    }

    /** The batch's keys can go on before its callers are answered, since what depends on the answers runs here. */
    private void flush() {
        List<Entry> batch = queue.take();
        if (batch.isEmpty()) {
            isFlushed = true;
            return;
        }
        try {
            write(batch);
        } finally {
            queue.returned(batch);
            for (Entry entry : batch) {
                entry.call().end();
            }
        }
    }

    /** One entry that the store can never take must not fail its neighbours: the batch is halved until it is alone. */
    private void write(List<Entry> batch) {
        try {
            apply(batch);
        } catch (IllegalArgumentException poison) {
            int half = batch.size() / 2;
            if (half == 0) {
                batch.get(0).note(new IllegalArgumentException(poison.getMessage(), poison));
            } else {
                write(batch.subList(0, half));
                write(batch.subList(half, batch.size()));
            }
        } catch (RuntimeException failure) {
            String why = "The store did not answer a batch of %d: %s".formatted(batch.size(), failure.getMessage());
            for (Entry entry : batch) {
                // To each caller its own: callers add to what they catch.
                entry.note(new ClaimStoreUnavailableException(why, failure));
            }
        }
    }

    private void apply(List<Entry> batch) {
        List<ClaimEnd> ends = new ArrayList<>();
        List<ClaimRequest> claims = new ArrayList<>();
        for (Entry entry : batch) {
            if (entry.request() instanceof ClaimEnd end) {
                ends.add(end);
            } else if (entry.request() instanceof ClaimRequest claim) {
                claims.add(claim);
            }
        }
        ClaimBatch.Result result = store.apply(new ClaimBatch(ends, claims));
        Iterator<ClaimOutcome> outcomes = result.claimed().iterator();
        for (Entry entry : batch) {
            entry.note(entry.isClaim() ? outcomes.next() : result);
        }
    }

    /** A timer refuses what waits for too long, since flushers may be stuck just then. */
    private void sweep() {
        if (!isFlushed) {
            Timer.SYSTEM.after(SWEEP_INTERVAL, this::sweep);
        }
        refuse(queue.withdraw(patience), busy);
    }

    private static void refuse(List<Entry> entries, String why) {
        for (Entry entry : entries) {
            entry.note(new ClaimStoreBusyException(why));
            entry.call().end();
        }
    }

    /** Flushes what waits, for as long as a caller would wait for it, refuses the rest, and ends the flushers. */
    @Override
    public void close() {
        queue.close();
        long deadline = clock.nanoTime() + patience;
        try {
            for (Thread flusher : flushers) {
                flusher.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - clock.nanoTime())));
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        refuse(queue.withdraw(0), CLOSED);
    }
}
