package io.exactlyonce.claim.groupcommit;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.groupcommit.CommitQueue.Answer;
import io.exactlyonce.claim.groupcommit.CommitQueue.QueuedCall;
import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sends the calls of many threads to the store in shared batches (group commit), without blocking these threads. A call
 * waits in a {@link CommitQueue}, until a thread of this class (a flusher) takes it from there in a batch. The batches
 * are larger if more calls arrive.
 *
 * <p>Guaranteed, in addition to the store's guarantees:
 *
 * <ul>
 *   <li>In a batch, resolutions come before claims.
 *   <li>Calls for the same key are sent one after the other. They share a batch only if all of them are claims.
 *   <li>If the store rejects a call as invalid, the other calls of the batch do not fail. If another transaction locks
 *       the row of a resolution, only this resolution gets no answer.
 *   <li>A call's future completes only when the store will no longer act on the call. So a caller that waits for the
 *       future of a claim can then safely release the claim.
 * </ul>
 *
 * <p>Not guaranteed: the order of calls for different keys. If the store fails, all calls of the batch fail.
 *
 * <p>Actions that are chained to a future must not block, because they run on a flusher.
 *
 * <p>Renewals, lookups and calls of {@code fence} do not use the queue. They are sent to the store directly, so that no
 * claim delays them.
 */
public final class GroupCommitClaimStore implements AsyncClaimStore, AutoCloseable {

    private static final Duration SWEEP_INTERVAL = Duration.ofMillis(100);
    private static final String CLOSED = "The claim store was not called: claims have stopped with the application";
    private static final String BUSY = "The claim store was not called, because it was busy for %d ms: %s";

    private final ClaimStore store;
    private final GroupCommitSettings settings;
    private final EngineScheduler scheduler;
    private final CommitQueue queue;
    private final List<Thread> flushers = new ArrayList<>();
    private final AtomicBoolean isStarted = new AtomicBoolean();
    private volatile boolean isFlushed;

    /**
     * @param store the store; {@link #close} does not close it
     * @param settings how calls share batches
     * @param scheduler the clock, and the timer for calls that wait too long
     */
    public GroupCommitClaimStore(ClaimStore store, GroupCommitSettings settings, EngineScheduler scheduler) {
        this.store = store;
        this.settings = settings;
        this.scheduler = scheduler;
        this.queue = new CommitQueue(settings, scheduler);
        for (int i = 1; i <= settings.flushers(); i++) {
            // Flushers are platform threads. If a virtual thread were interrupted during a request, its connection
            // would be closed, and the whole batch would fail.
            Thread flusher = new Thread(null, this::flushUntilClosed, "exactly-once-claims-" + i, 0, false);
            flusher.setDaemon(true);
            flushers.add(flusher);
        }
    }

    @Override
    public CompletableFuture<Claimed> claimAsync(List<ClaimRequest> requests) {
        return ask(new ClaimBatch(List.of(), requests), true)
                .thenApply(answer -> new Claimed(answer.given().claimed(), answer.askedAt()));
    }

    @Override
    public CompletableFuture<ClaimAnswers> resolveAsync(
            List<? extends ClaimResolution> resolutions, boolean isAwaited) {
        return ask(new ClaimBatch(List.copyOf(resolutions), List.of()), isAwaited)
                .thenApply(answer -> own(resolutions, answer.given().resolved()));
    }

    private CompletableFuture<Answer> ask(ClaimBatch asked, boolean isAwaited) {
        QueuedCall call = QueuedCall.of(asked, isAwaited, scheduler.nanoTime());
        if (!queue.add(call)) {
            refuse(List.of(call), CLOSED);
        } else if (isStarted.compareAndSet(false, true)) {
            // Threads start with the first call, because an application without listeners needs none.
            flushers.forEach(Thread::start);
            sweep();
        }
        return call.answer();
    }

    /** Picks the answers to one call from the answers to all resolutions of its batch. */
    private static ClaimAnswers own(List<? extends ClaimResolution> resolutions, ClaimAnswers batch) {
        Set<ClaimId> recorded = new HashSet<>();
        Set<ClaimId> unanswered = batch.unanswered().isEmpty() ? Set.of() : new HashSet<>();
        for (ClaimResolution resolution : resolutions) {
            if (batch.unanswered().contains(resolution.claim())) {
                unanswered.add(resolution.claim());
            } else if (batch.granted().contains(resolution.claim())) {
                recorded.add(resolution.claim());
            }
        }
        return new ClaimAnswers(recorded, unanswered, unanswered.isEmpty() ? null : batch.failure());
    }

    /**
     * Sends batches until the queue is closed and empty. If a batch crashes, the flusher continues with the next one.
     */
    private void flushUntilClosed() {
        Runnable flush = this::flush;
        while (!isFlushed) {
            Boundary.guard("A flusher of claims", flush);
        }
    }

    private void flush() {
        // The list is created first. If memory ran out after the batch was taken, its callers would never get an
        // answer.
        List<Runnable> answers = new ArrayList<>();
        List<QueuedCall> batch = queue.take();
        if (batch.isEmpty()) {
            isFlushed = true;
            return;
        }
        Boundary.guard("A batch of claims", () -> write(batch, answers), crash -> fail(batch, crash, answers));
        // The keys are freed for their next calls before the futures complete. Actions that are chained to the futures
        // run on this thread, and the next calls must not wait for them.
        queue.returned(batch);
        for (Runnable answer : answers) {
            Boundary.guard("An answer of the claim store", answer);
        }
    }

    /**
     * Writes a batch. If the store rejects the batch as invalid, its two halves are written separately, and so on. In
     * the end, only the invalid call fails.
     */
    private void write(List<QueuedCall> batch, List<Runnable> answers) {
        try {
            apply(batch, answers);
        } catch (IllegalArgumentException poison) {
            int half = batch.size() / 2;
            if (half == 0) {
                answers.add(() -> batch.get(0).answer().completeExceptionally(poison));
            } else {
                write(batch.subList(0, half), answers);
                write(batch.subList(half, batch.size()), answers);
            }
        } catch (RuntimeException failure) {
            fail(batch, failure, answers);
        }
    }

    private void apply(List<QueuedCall> batch, List<Runnable> answers) {
        List<ClaimResolution> resolutions = new ArrayList<>();
        List<ClaimRequest> claims = new ArrayList<>();
        for (QueuedCall call : batch) {
            resolutions.addAll(call.asked().resolutions());
            claims.addAll(call.asked().claims());
        }
        long askedAt = scheduler.nanoTime();
        ClaimBatch.Result result = store.apply(new ClaimBatch(resolutions, claims));
        int answered = 0;
        for (QueuedCall call : batch) {
            int from = answered;
            answered += call.asked().claims().size();
            List<ClaimOutcome> claimed = result.claimed().subList(from, answered);
            answers.add(() ->
                    call.answer().complete(new Answer(new ClaimBatch.Result(result.resolved(), claimed), askedAt)));
        }
    }

    /**
     * Fails all calls of a batch. Each call gets its own exception, because its caller may add suppressed exceptions to
     * it.
     */
    private static void fail(List<QueuedCall> batch, Throwable failure, List<Runnable> answers) {
        String why = "The store did not answer a batch of %d: %s".formatted(batch.size(), failure.getMessage());
        for (QueuedCall call : batch) {
            answers.add(() -> call.answer().completeExceptionally(new ClaimStoreUnavailableException(why, failure)));
        }
    }

    /** Rejects calls that have waited too long. A timer runs this method, because all flushers may be stuck. */
    private void sweep() {
        if (!isFlushed) {
            Boundary.guard("A timer of claims", this::sweepLater, crash -> sweepLater());
        }
        Duration longest = settings.queueTimeout();
        refuse(queue.removeOlderThan(longest.toNanos()), BUSY.formatted(longest.toMillis(), settings.remedy()));
    }

    private void sweepLater() {
        scheduler.after(SWEEP_INTERVAL, () -> Boundary.guardPeriodic("A sweep of waiting claims", this::sweep));
    }

    private static void refuse(List<QueuedCall> calls, String why) {
        for (QueuedCall call : calls) {
            call.answer().completeExceptionally(new ClaimStoreBusyException(why));
        }
    }

    /**
     * Rejects new calls, and waits until the waiting calls are sent. Calls that still wait after the queue timeout are
     * rejected.
     */
    @Override
    public void close() {
        queue.close();
        long deadline = scheduler.nanoTime() + settings.queueTimeout().toNanos();
        try {
            for (Thread flusher : flushers) {
                flusher.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - scheduler.nanoTime())));
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        refuse(queue.removeOlderThan(0), CLOSED);
    }
}
