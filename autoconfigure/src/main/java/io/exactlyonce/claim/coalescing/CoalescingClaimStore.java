package io.exactlyonce.claim.coalescing;

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
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts calls of many threads together, so that they share the store's transactions: one queue, a few flushers, a future
 * per entry. Callers wait for their own answers, or are called back. A batch is what waits when a flusher is free, so batches grow
 * with the load; only completions wait for others that may come within half a millisecond.
 *
 * <p>Guaranteed, besides what the store guarantees:
 *
 * <ul>
 *   <li>Renewals go straight to the store, on the thread that calls, so no claim delays them in here.
 *   <li>Ends go before claims.
 *   <li>Entries for one key reach the store one after the other, in no batch together but for claims.
 *   <li>An entry that the store can never take, or whose row is locked, fails alone.
 *   <li>A call throws only when nothing of it is on its way to the store any more, so that no release that a caller sends
 *       after that can be overtaken by its claim.
 * </ul>
 *
 * <p>Not guaranteed: the order of entries for different keys. When the store fails, it fails for a whole batch.
 */
public final class CoalescingClaimStore implements ClaimStore, AsyncClaimStore, AutoCloseable {

    private static final long SHORTEST_WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ClaimStore store;
    private final CoalescingSettings settings;
    private final NanoClock clock;
    private final ClaimQueue queue;
    private final AtomicBoolean isWatched = new AtomicBoolean();
    private volatile List<Thread> flushers = List.of();

    /**
     * @param store what answers; closing this does not close it
     * @param settings how calls are put together
     * @param clock monotonic, in nanoseconds
     */
    public CoalescingClaimStore(ClaimStore store, CoalescingSettings settings, NanoClock clock) {
        this.store = store;
        this.settings = settings;
        this.clock = clock;
        this.queue = new ClaimQueue(settings, clock);
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

    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        long deadline = deadline();
        return ask(
                requests.stream()
                        .map(request -> PendingCall.of(request, deadline))
                        .toList(),
                Function.identity());
    }

    @Override
    public Set<ClaimId> end(List<? extends ClaimEnd> ends) {
        return join(endAsync(ends));
    }

    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
        long deadline = deadline();
        return ask(
                ends.stream().map(end -> PendingCall.of(end, deadline)).toList(), answers -> recorded(ends, answers));
    }

    private static <T> T join(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failed) {
            throw failed.getCause() instanceof RuntimeException failure ? failure : failed;
        }
    }

    private long deadline() {
        return clock.nanoTime() + settings.patience().toNanos();
    }

    /** @param batches of each end what became of the batch that it was in */
    private static Set<ClaimId> recorded(List<? extends ClaimEnd> ends, List<ClaimBatch.Result> batches) {
        Set<ClaimId> recorded = new HashSet<>();
        Set<ClaimId> unanswered = new HashSet<>();
        for (int i = 0; i < batches.size(); i++) {
            ClaimId claim = ends.get(i).claim();
            if (batches.get(i).unanswered().contains(claim)) {
                unanswered.add(claim);
            } else if (batches.get(i).recorded().contains(claim)) {
                recorded.add(claim);
            }
        }
        return ClaimsPartlyAnsweredException.requireAll(unanswered, recorded);
    }

    /**
     * Extends leases, on the caller's thread: the one caller is the supervisor, whose calls are large already. More than a
     * batch takes go to the store in several chunks, one after the other. A chunk that fails, or that could not begin in time,
     * costs only its own leases their answer.
     *
     * @throws ClaimsPartlyAnsweredException if some leases got no answer
     * @throws RuntimeException if none did
     */
    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> leases) {
        long deadline = deadline();
        Set<ClaimId> granted = new HashSet<>();
        Set<ClaimId> unanswered = new HashSet<>();
        RuntimeException failure = null;
        for (int start = 0; start < leases.size(); start += settings.maxBatch()) {
            List<LeaseRenewal> chunk = leases.subList(start, Math.min(start + settings.maxBatch(), leases.size()));
            try {
                if (start > 0 && deadline - clock.nanoTime() <= 0) {
                    throw queue.busy();
                }
                granted.addAll(store.renew(chunk));
            } catch (ClaimsPartlyAnsweredException some) {
                granted.addAll(some.granted());
                unanswered.addAll(some.unanswered());
            } catch (RuntimeException none) {
                chunk.forEach(lease -> unanswered.add(lease.claim()));
                failure = failure == null ? none : failure;
            }
        }
        return held(leases.size(), granted, unanswered, failure);
    }

    private static Set<ClaimId> held(
            int asked, Set<ClaimId> granted, Set<ClaimId> unanswered, @Nullable RuntimeException failure) {
        // Of two renewals of one claim, one that was answered is enough.
        unanswered.removeAll(granted);
        if (failure == null) {
            return ClaimsPartlyAnsweredException.requireAll(unanswered, granted);
        }
        if (unanswered.size() == asked) {
            throw failure;
        }
        throw new ClaimsPartlyAnsweredException(
                "%d of %d leases got no answer: %s".formatted(unanswered.size(), asked, failure.getMessage()),
                unanswered,
                granted,
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

    /** The answer comes, also as a failure, only when no entry is on its way to the store any more. */
    private <A, R> CompletableFuture<R> ask(List<PendingCall<A>> entries, Function<List<A>, R> reply) {
        CompletableFuture<R> answer = CompletableFuture.allOf(
                        entries.stream().map(PendingCall::shown).toArray(CompletableFuture[]::new))
                .thenApply(shown -> reply.apply(answers(entries)));
        if (!entries.isEmpty()) {
            startFlushers();
            if (queue.add(entries)) {
                watch();
            } else {
                refuse(entries, ClaimQueue::closed);
            }
        }
        return answer;
    }

    /**
     * @throws ClaimStoreBusyException if nothing of the call was asked of the store
     * @throws RuntimeException otherwise the first one that an entry ended with
     */
    private static <A> List<A> answers(List<PendingCall<A>> entries) {
        RuntimeException failure = null;
        boolean isAsked = false;
        for (PendingCall<A> entry : entries) {
            RuntimeException failed = entry.failure();
            boolean isRefused = failed instanceof ClaimStoreBusyException;
            failure = failure == null || (failure instanceof ClaimStoreBusyException && failed != null)
                    ? failed
                    : failure;
            isAsked |= !isRefused;
        }
        if (isAsked && failure instanceof ClaimStoreBusyException) {
            throw new ClaimStoreUnavailableException("The store was not asked for all that a call wanted", failure);
        }
        if (failure != null) {
            throw failure;
        }
        return entries.stream().map(PendingCall::answer).toList();
    }

    private static void refuse(List<? extends PendingCall<?>> entries, Supplier<ClaimStoreBusyException> why) {
        for (PendingCall<?> entry : entries) {
            entry.fail(why.get());
            show(entry);
        }
    }

    /**
     * Has what waits for too long refused, by a timer, since flushers may be stuck just then. One is set at a time, and none while
     * nothing waits.
     */
    private void watch() {
        if (isWatched.get()) {
            return;
        }
        OptionalLong left = queue.untilFirstDeadline();
        if (left.isPresent() && isWatched.compareAndSet(false, true)) {
            Timer.SYSTEM.after(Duration.ofNanos(Math.max(SHORTEST_WATCH_NANOS, left.getAsLong())), this::refuseOverdue);
        }
    }

    private void refuseOverdue() {
        isWatched.set(false);
        List<PendingCall<?>> overdue = queue.withdrawOverdue();
        watch();
        refuse(overdue, queue::busy);
    }

    /** Not before the first call: an application without listeners needs none. */
    private void startFlushers() {
        if (flushers.size() < settings.flushers()) {
            startMissing();
        }
    }

    /**
     * On platform threads of their own: an interrupt of a caller's virtual thread would close the connection, and fail all of a
     * batch.
     */
    private synchronized void startMissing() {
        while (flushers.size() < settings.flushers()) {
            String name = "exactly-once-claims-" + (flushers.size() + 1);
            Thread flusher = new Thread(null, this::flushUntilClosed, name, 0, false);
            flusher.setDaemon(true);
            flusher.start();
            List<Thread> started = new ArrayList<>(flushers);
            started.add(flusher);
            flushers = started;
        }
    }

    /** A crash ends no flusher. */
    private void flushUntilClosed() {
        AtomicBoolean goesOn = new AtomicBoolean(true);
        while (goesOn.get()) {
            Boundary.guard("A flusher of claims", () -> {
                List<PendingCall<?>> batch = queue.take();
                goesOn.set(!batch.isEmpty() && flush(batch));
            });
        }
    }

    /**
     * The batch's callers get an answer, and its keys can go on: before the answers are shown, since what depends on them runs
     * here.
     */
    private boolean flush(List<PendingCall<?>> batch) {
        try {
            write(batch);
        } finally {
            queue.returned(batch);
            batch.forEach(CoalescingClaimStore::show);
        }
        return true;
    }

    /** What crashes in one caller must not keep the others from their answers. */
    private static void show(PendingCall<?> entry) {
        Boundary.guard("What goes on with the answer of a claim store", entry::show);
    }

    /** One entry that the store can never take must not fail its neighbours: the batch is halved until it is alone. */
    private void write(List<PendingCall<?>> batch) {
        try {
            answer(batch, apply(batch));
        } catch (IllegalArgumentException poison) {
            int half = batch.size() / 2;
            if (half == 0) {
                batch.get(0).fail(new IllegalArgumentException(poison.getMessage(), poison));
            } else {
                write(batch.subList(0, half));
                write(batch.subList(half, batch.size()));
            }
        } catch (RuntimeException failure) {
            batch.forEach(entry -> entry.fail(unanswered(batch.size(), failure)));
        }
    }

    private ClaimBatch.Result apply(List<PendingCall<?>> batch) {
        return store.apply(new ClaimBatch(
                PendingCall.requests(batch, ClaimEnd.class), PendingCall.requests(batch, ClaimRequest.class)));
    }

    private static void answer(List<PendingCall<?>> batch, ClaimBatch.Result result) {
        Iterator<ClaimOutcome> outcomes = result.claimed().iterator();
        for (PendingCall<?> entry : batch) {
            entry.note(entry.kind() == Kind.CLAIM ? outcomes.next() : result);
        }
    }

    /** To each caller its own: callers add to what they catch. */
    private static RuntimeException unanswered(int size, RuntimeException failure) {
        return new ClaimStoreUnavailableException(
                "The store did not answer a batch of %d: %s".formatted(size, failure.getMessage()), failure);
    }

    /** Flushes what waits, for as long as a caller would wait for it, refuses the rest, and ends the flushers. */
    @Override
    public void close() {
        queue.close();
        long deadline = deadline();
        try {
            for (Thread flusher : flushers) {
                flusher.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - clock.nanoTime())));
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        refuse(queue.withdraw(entry -> true), ClaimQueue::closed);
    }
}
