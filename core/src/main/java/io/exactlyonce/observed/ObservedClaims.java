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
 * Records claims for handlers that do not wait for claims. Handlers' threads put each start and each end into one
 * queue. A single thread passes the starts and ends to the claim store, in the order of the queue and in batches.
 *
 * <p>Three rules always hold:
 * <ul>
 * <li>No call on a handler's thread waits or throws.
 * <li>The number of pending observations is limited. Runs beyond the limit are counted as not observed.
 * <li>A key is recorded as completed only if its handler succeeded, and held the claim until the end.
 * </ul>
 *
 * <p>Some runs may not be observed, and an overlap may be reported late. Leases are not renewed, so a handler may run
 * for longer than its lease, and a handler of another instance may acquire the key. The instance of the first handler
 * reports this overlap when the first handler ends.
 */
public final class ObservedClaims implements AutoCloseable {

    /**
     * The limit on pending observations. An observation is pending while its handler runs, and while its start or end
     * waits for the claim store.
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
     * Runs in progress, used only on the single thread. Leases are not renewed, so the store does not see an overlap
     * after a lease has expired. This map shows such overlaps within this instance.
     */
    private final Map<ClaimKey, List<ObservedRun>> running = new HashMap<>();

    /** The start or the end of a handler. */
    private record Step(ObservedRun run, boolean isEnd) {}

    /**
     * @param store stores the claims; called only on {@code thread}
     * @param policy settings for claims in enforce mode
     * @param readiness checks that the store can be used, or throws
     * @param counters count observations
     * @param thread a single thread, which runs all tasks in order
     * @param most maximum number of pending observations, from 1
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
     * Called when a listener was set up in observe mode, and is observed from its next start on. Does not wait for the
     * store.
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
     * Called when a handler has ended, once for each run.
     *
     * @param failure the handler's failure; {@code null} if the handler succeeded
     */
    public void ended(ObservedRun run, @Nullable Throwable failure) {
        if (run.isAdmitted) {
            run.failure = failure;
            add(new Step(run, true));
        }
    }

    /** Called if a run cannot be observed, or its outcome is unknown. */
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
     * Takes a batch of steps from the queue, and sends the starts to the store before the ends. A start whose key
     * already has a step in this batch waits for the next batch, so that the key's new claim follows the end of its
     * earlier run.
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
     * Records the ends of runs. If a run had a claim that no longer holds the key, another handler has taken the key
     * over while this run's handler was running. The run is then reported as an overlap, unless the other handler ran
     * in this instance.
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
     * Calls the store. If there is no answer, repeats the call once. If the answer to a claim was lost, the second call
     * finds the claim by its ID. Returns {@code null} if the second call also gets no answer.
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
