package io.exactlyonce.observed;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.queue.ListenerQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records claims in observe mode. Handlers do not wait for their claims: a handler's thread only puts its start and its
 * end into a queue. Another thread takes these events from the queue, and sends them to the claim store in batches.
 *
 * <p>Three rules always hold:
 * <ul>
 *   <li>A handler's thread never waits here, and never gets an exception.
 *   <li>Only a limited number of handlers is observed at once. Further handlers are counted as not observed.
 *   <li>A key is recorded as completed only if its handler succeeded, and held the claim until the end.
 * </ul>
 *
 * <p>The counts are not exact. Some handlers may not be observed. Leases are not renewed, so another instance may
 * acquire a key while a handler for the key still runs here. This instance counts the overlap when its own handler
 * ends.
 */
public final class ObservedClaims implements AutoCloseable {

    /**
     * Limit of pending observations. An observation is pending until its handler has ended, and the outcome is
     * recorded.
     */
    public static final int MOST_IN_PROGRESS = 5_000;

    private static final int MOST_TOGETHER = 100;

    private static final Duration LONGEST_STOP = Duration.ofSeconds(2);

    private static final Logger log = LoggerFactory.getLogger(ObservedClaims.class);

    private final ClaimStore store;
    private final OutcomePolicy policy;
    private final Runnable readiness;
    private final List<ObservationCounter> counters;
    private final Executor thread;
    private final int most;
    private final AtomicInteger pending = new AtomicInteger();
    private final Queue<Step> steps = new ConcurrentLinkedQueue<>();

    /**
     * Handlers that run in this instance, by key. If a handler runs longer than its lease, the store grants the key to
     * the next handler, and this map shows that the first handler is still running. Only the thread that calls the
     * store uses this map.
     */
    private final Map<ClaimKey, List<ObservedRun>> running = new HashMap<>();

    /** The start or the end of a handler. */
    private record Step(ObservedRun run, boolean isEnd) {}

    /**
     * @param store called only on {@code thread}
     * @param policy the settings of claims, the same as in enforce mode
     * @param readiness throws if the store cannot be used
     * @param thread a single thread, which runs all tasks in order
     * @param most limit of pending observations, at least 1
     */
    public ObservedClaims(
            ClaimStore store,
            OutcomePolicy policy,
            Runnable readiness,
            List<ObservationCounter> counters,
            Executor thread,
            int most) {
        this.store = store;
        this.policy = policy;
        this.readiness = readiness;
        this.counters = List.copyOf(counters);
        this.thread = thread;
        this.most = most;
    }

    /**
     * Called when a listener was set up in observe mode. Observation begins when the listener starts. Does not wait for
     * the store.
     */
    public void observing(ListenerQueue queue) {
        Boundary.notifySafely(counters, counter -> counter.observing(queue));
        thread.execute(() -> call(() -> {
            readiness.run();
            return queue;
        }));
    }

    /** Called before a handler is called. */
    public void begin(ObservedRun run) {
        run.isAdmitted = pending.addAndGet(run.room) <= most;
        if (run.isAdmitted) {
            add(new Step(run, false));
        } else {
            pending.addAndGet(-run.room);
            notObserved(run.queue, NotObserved.OVERLOAD, null);
        }
    }

    /**
     * Called when a handler has ended.
     *
     * @param failure {@code null} if the handler succeeded
     */
    public void ended(ObservedRun run, @Nullable Throwable failure) {
        if (run.isAdmitted) {
            run.failure = failure;
            add(new Step(run, true));
        }
    }

    /** Called if a handler is not observed, or if its outcome is unknown. */
    public void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {
        Boundary.notifySafely(counters, counter -> counter.notObserved(queue, reason, failure));
    }

    private void observed(ObservedRun run, ObservedOutcome outcome) {
        Boundary.notifySafely(counters, counter -> counter.observed(run.queue, run.key, outcome));
    }

    /** Returns the number of pending observations. */
    int pending() {
        return pending.get();
    }

    private void add(Step step) {
        steps.add(step);
        thread.execute(() -> Boundary.guard("Observing", this::work));
    }

    /**
     * Takes a batch of starts and ends of handlers from the queue, and sends them to the store: first all starts, and
     * then all ends. If one handler ends and the next handler of its key starts, the store must get the end first. So
     * if the key of a start is already in the batch, the start is left for the next batch.
     */
    private void work() {
        Set<ClaimKey> keys = new HashSet<>();
        List<ObservedRun> starting = new ArrayList<>();
        List<ObservedRun> ended = new ArrayList<>();
        for (Step next = steps.peek();
                next != null && keys.size() < MOST_TOGETHER && (next.isEnd() || !keys.contains(next.run().key));
                next = steps.peek()) {
            keys.add(next.run().key);
            (next.isEnd() ? ended : starting).add(steps.remove().run());
        }
        try {
            claim(starting);
            end(ended);
        } finally {
            ended.forEach(this::forget);
        }
    }

    private void claim(List<ObservedRun> starting) {
        if (starting.isEmpty()) {
            return;
        }
        List<ClaimRequest> requests =
                starting.stream().map(run -> run.request(policy)).toList();
        List<ClaimOutcome> outcomes = call(() -> {
            readiness.run();
            return store.claim(requests);
        });
        for (int index = 0; index < starting.size(); index++) {
            claimed(starting.get(index), outcomes == null ? null : outcomes.get(index));
        }
    }

    private void claimed(ObservedRun run, @Nullable ClaimOutcome outcome) {
        pending.addAndGet(1 - run.room);
        List<ObservedRun> others = running.computeIfAbsent(run.key, key -> new ArrayList<>(1));
        ObservedOutcome overlap =
                others.stream().anyMatch(run::differsFrom) ? ObservedOutcome.MISMATCH : ObservedOutcome.OVERLAP;
        if (outcome == null && others.isEmpty()) {
            notObserved(run.queue, NotObserved.STORE, null);
        } else {
            observed(run, outcome == null ? overlap : met(outcome, !others.isEmpty(), overlap));
        }
        run.isHeld = outcome instanceof ClaimOutcome.Acquired;
        if (run.isHeld) {
            others.forEach(other -> other.isTakenOverHere = true);
        } else if (outcome != null) {
            run.claim = null;
        }
        others.add(run);
    }

    private static ObservedOutcome met(ClaimOutcome outcome, boolean overlaps, ObservedOutcome overlap) {
        return switch (outcome.kind()) {
            case ACQUIRED ->
                overlaps
                        ? overlap
                        : ((ClaimOutcome.Acquired) outcome).inDoubt()
                                ? ObservedOutcome.TAKEOVER
                                : ObservedOutcome.ALONE;
            case ALREADY_COMPLETED -> overlaps ? overlap : ObservedOutcome.DUPLICATE;
            case MISMATCH -> ObservedOutcome.MISMATCH;
            case HELD_ELSEWHERE ->
                ((ClaimOutcome.HeldElsewhere) outcome).isForOtherPayload() ? ObservedOutcome.MISMATCH : overlap;
            case PARKED -> ObservedOutcome.PARKED;
        };
    }

    /**
     * Records how handlers ended. If another handler has acquired the key by now, the store does not accept the end,
     * and an overlap is reported. If the other handler runs in this instance, the overlap was already reported when
     * that handler started, and is not reported again.
     */
    private void end(List<ObservedRun> ended) {
        List<ObservedRun> open = ended.stream().filter(run -> run.claim != null).toList();
        ClaimAnswers ends = open.isEmpty()
                ? null
                : call(() ->
                        store.resolve(open.stream().map(ObservedRun::resolution).toList()));
        for (ObservedRun run : open) {
            if (ends == null || ends.unanswered().contains(run.claim)) {
                notObserved(run.queue, NotObserved.OUTCOME, null);
            } else if (run.isHeld && !ends.granted().contains(run.claim) && !run.isTakenOverHere) {
                observed(run, ObservedOutcome.OVERLAP);
            }
        }
    }

    /**
     * Calls the store, and repeats the call once if it fails. A claim can be repeated safely, because the store
     * recognizes the claim's ID. Returns {@code null} if both calls fail.
     */
    private <T> @Nullable T call(Supplier<T> request) {
        try {
            return request.get();
        } catch (RuntimeException lost) {
            try {
                return request.get();
            } catch (RuntimeException away) {
                Boundary.notifySafely(counters, counter -> counter.unavailable(away));
                return null;
            }
        }
    }

    private void forget(ObservedRun run) {
        pending.decrementAndGet();
        running.computeIfPresent(run.key, (key, others) -> {
            others.remove(run);
            return others.isEmpty() ? null : others;
        });
    }

    /** Waits, at most 2 s, until the outcomes of ended handlers are recorded. Does not wait for running handlers. */
    @Override
    public void close() {
        close(LONGEST_STOP);
    }

    void close(Duration longest) {
        CountDownLatch recorded = new CountDownLatch(1);
        thread.execute(recorded::countDown);
        try {
            if (!recorded.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn(
                        "The claim store does not answer; the outcomes of up to {} observed handlers are not "
                                + "recorded",
                        pending.get());
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
    }
}
