package io.exactlyonce.claim.coalescing;

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
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.time.Timer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Puts calls of many threads together, so that they share the store's transactions: one queue, a few flushers, a future
 * per entry. Callers wait for their own answers, or are called back. A batch is what waits when a flusher is free, so batches grow
 * with the load; only completions, which no thread waits for, wait for others that may come within half a millisecond.
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

    private final ClaimStore store;
    private final CoalescingSettings settings;
    private final NanoClock clock;
    private final ClaimQueue queue;
    private final QueuePatience patience;
    private final ThreadFactory threads;
    private volatile List<Thread> flushers = List.of();

    /**
     * @param store what answers; closing this does not close it
     * @param settings how calls are put together
     * @param clock monotonic, in nanoseconds
     */
    public CoalescingClaimStore(ClaimStore store, CoalescingSettings settings, NanoClock clock) {
        this(store, settings, clock, flusher -> new Thread(null, flusher, "exactly-once-claims", 0, false));
    }

    /** @param threads makes the flushers' threads */
    CoalescingClaimStore(ClaimStore store, CoalescingSettings settings, NanoClock clock, ThreadFactory threads) {
        this.store = store;
        this.settings = settings;
        this.clock = clock;
        this.queue = new ClaimQueue(settings, clock);
        this.patience = new QueuePatience(queue, Timer.SYSTEM);
        this.threads = threads;
    }

    /**
     * Claims keys.
     *
     * @throws ClaimStoreBusyException if the store was too busy to be asked in time, if the thread was interrupted before
     *     it was asked, or after {@link #close()}
     * @throws ClaimStoreUnavailableException if the store failed
     */
    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        return ask(claims(requests));
    }

    /** Does the same without waiting, neither for room nor for the answer. */
    @Override
    public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
        return askAsync(claims(requests), Function.identity());
    }

    @Override
    public Set<ClaimId> end(List<? extends ClaimEnd> ends) {
        return recorded(ends, ask(ends(ends)));
    }

    /** Does the same without waiting, neither for room nor for the answer. */
    @Override
    public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
        return askAsync(ends(ends), answers -> recorded(ends, answers));
    }

    private List<PendingCall<ClaimOutcome>> claims(List<ClaimRequest> requests) {
        long deadline = deadline();
        return requests.stream()
                .map(request -> PendingCall.of(request, deadline))
                .toList();
    }

    private List<PendingCall<ClaimBatch.Result>> ends(List<? extends ClaimEnd> ends) {
        long deadline = deadline();
        return ends.stream().map(end -> PendingCall.of(end, deadline)).toList();
    }

    private long deadline() {
        return clock.nanoTime() + settings.patience().toNanos();
    }

    /** @param batches of each end what became of the batch that it was in */
    private static Set<ClaimId> recorded(List<? extends ClaimEnd> ends, List<ClaimBatch.Result> batches) {
        Set<ClaimId> recorded = new HashSet<>();
        Set<ClaimId> locked = new HashSet<>();
        for (int i = 0; i < batches.size(); i++) {
            ClaimId claim = ends.get(i).claim();
            if (batches.get(i).locked().contains(claim)) {
                locked.add(claim);
            } else if (batches.get(i).recorded().contains(claim)) {
                recorded.add(claim);
            }
        }
        return ClaimsLockedException.requireNone(locked, recorded);
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
        RenewalChunks chunks = new RenewalChunks();
        for (int start = 0; start < leases.size(); start += settings.maxBatch()) {
            if (start > 0 && deadline - clock.nanoTime() <= 0) {
                chunks.fail(leases.subList(start, leases.size()), queue.busy());
                break;
            }
            chunks.renew(store, leases.subList(start, Math.min(start + settings.maxBatch(), leases.size())));
        }
        return chunks.held(leases.size());
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

    /**
     * Waits until each entry is answered. Returns and throws only when no entry is on its way to the store any more.
     *
     * @throws RuntimeException the first one that an entry ended with
     */
    private <A> List<A> ask(List<PendingCall<A>> entries) {
        if (entries.isEmpty()) {
            return List.of();
        }
        CompletableFuture<Void> shown = shown(entries);
        startFlushers();
        queue.add(entries);
        patience.watch();
        await(shown, entries);
        return answers(entries);
    }

    /**
     * A claim that waits in the queue leaves it when its caller is interrupted. An entry that is on its way to the store is waited
     * for, as if its caller had called the store itself: the claim may be made already.
     */
    private void await(CompletableFuture<Void> shown, List<? extends PendingCall<?>> entries) {
        try {
            shown.get();
        } catch (InterruptedException stopping) {
            if (entries.get(0).kind() == Kind.CLAIM) {
                queue.withdraw(entries::contains)
                        .forEach(claim ->
                                claim.refuse(new ClaimStoreBusyException("Interrupted while it waited to claim")));
            }
            shown.join();
            Thread.currentThread().interrupt();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException("What is shown fails with nothing", impossible);
        }
    }

    private <A, R> CompletableFuture<R> askAsync(List<PendingCall<A>> entries, Function<List<A>, R> reply) {
        CompletableFuture<R> replied = new CompletableFuture<>();
        var unused = shown(entries).thenRun(() -> {
            try {
                replied.complete(reply.apply(answers(entries)));
            } catch (Throwable failure) {
                replied.completeExceptionally(failure);
            }
        });
        try {
            startFlushers();
            queue.addAnyway(entries);
            patience.watch();
        } catch (RuntimeException refused) {
            replied.completeExceptionally(refused);
        }
        return replied;
    }

    /** Completes when all are shown; made before they wait, since memory that is missing then must not keep their caller from them. */
    private static CompletableFuture<Void> shown(List<? extends PendingCall<?>> entries) {
        return CompletableFuture.allOf(entries.stream().map(PendingCall::shown).toArray(CompletableFuture[]::new));
    }

    /** @throws RuntimeException the first one that an entry ended with */
    private static <A> List<A> answers(List<PendingCall<A>> entries) {
        return entries.stream().map(PendingCall::answer).toList();
    }

    /** Not before the first call: an application without listeners needs none. */
    private void startFlushers() {
        if (flushers.size() < settings.flushers()) {
            startMissing();
        }
    }

    /** One alone flushes all, if more slowly: where the system refuses a thread for another, the next call asks for it again. */
    private synchronized void startMissing() {
        List<Thread> started = new ArrayList<>(flushers);
        try {
            while (started.size() < settings.flushers()) {
                Thread flusher = threads.newThread(new Flusher(queue, store));
                flusher.setName("exactly-once-claims-" + (started.size() + 1));
                flusher.setDaemon(true);
                flusher.start();
                started.add(flusher);
            }
        } catch (Throwable refused) {
            if (started.isEmpty()) {
                throw refused;
            }
        } finally {
            flushers = List.copyOf(started);
        }
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
        queue.refuseAll();
    }
}
