package io.exactlyonce.renewal;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the visibility timeouts and leases of all deliveries of an application, and interrupts handlers at their
 * timeouts. Renewals share requests: up to ten messages of a queue, or up to {@value #CHUNK} leases.
 *
 * <p>{@link #begin} starts two threads that look for due renewals: one for visibility timeouts, one for leases. So
 * leases need not wait while requests to SQS are prepared, which takes long on an overloaded CPU. A third thread calls
 * the claim store. If the store does not answer, the first two threads are not delayed.
 */
public final class Renewer {

    private static final Logger log = LoggerFactory.getLogger(Renewer.class);

    /** The time between two checks for due renewals. */
    static final Duration TICK = RenewalSchedule.SHORTEST_INTERVAL.dividedBy(10);

    /**
     * At most this many leases are renewed in one call of the store. If a call is late or fails, the leases of other
     * calls are still renewed.
     */
    static final int CHUNK = 256;

    private static final int LONGEST_REASON = 1_000;

    private static final Duration ALWAYS_LATE = Duration.ofSeconds(1);

    /**
     * If the renewal thread comes late by a quarter of a visibility timeout, a pause of the process is logged, because
     * little time is left to renew.
     */
    private static final int PART = 4;

    private final ClaimStore store;
    private final Executor leaseThread;
    private final NanoClock clock;
    final RenewalSchedule schedule;
    final Consumer<RenewalEvent> events;
    final Jitter random;
    final Set<MessageVisibility> visibilities = ConcurrentHashMap.newKeySet();
    final Set<Lease> leases = ConcurrentHashMap.newKeySet();

    /** The deadlines of running handlers. */
    final Set<HandlerDeadline> deadlines = ConcurrentHashMap.newKeySet();

    private final BlockingQueue<Lease> waiting = new LinkedBlockingQueue<>();
    private volatile long lastTick;
    private volatile long lastLeaseTick;

    /** True while the store fails to renew leases. Only the first failure is logged with its stack trace. */
    private volatile boolean isLogged;

    /**
     * @param store renews the leases
     * @param events receives each event; must not block
     * @param leaseThread calls the store; must have a single thread
     * @param random makes deliveries renew at different times
     */
    public Renewer(
            ClaimStore store,
            RenewalSchedule schedule,
            Consumer<RenewalEvent> events,
            Executor leaseThread,
            NanoClock clock,
            Jitter random) {
        this.store = store;
        this.schedule = schedule;
        this.events = events;
        this.leaseThread = leaseThread;
        this.clock = clock;
        this.random = random;
        this.lastTick = now();
        this.lastLeaseTick = lastTick;
    }

    /**
     * Starts to renew the visibility timeout of a delivery.
     *
     * @param length the visibility timeout that the poll requested
     * @param receivedAt when the message was received, by the monotonic clock
     */
    public MessageVisibility start(
            Subscription subscription,
            VisibilityWindow length,
            String messageId,
            String receiptHandle,
            long receivedAt) {
        MessageVisibility visibility =
                new MessageVisibility(this, subscription, length, messageId, receiptHandle, receivedAt);
        visibilities.add(visibility);
        return visibility;
    }

    /**
     * Starts to renew the lease of a claim without a message. The renewal ends after 12 h.
     *
     * @param askedAt when the claim was requested, by the monotonic clock
     * @param holder stops the work under the claim if the lease is lost; must not block
     */
    public Lease renewLease(ClaimId claim, Duration length, long askedAt, Runnable holder) {
        return renewLease(new Lease(this, null, claim, length, askedAt, holder));
    }

    Lease renewLease(Lease lease) {
        leases.add(lease);
        return lease;
    }

    /** Returns the number of deliveries whose visibility timeouts are renewed. */
    public int renewedCount() {
        return visibilities.size();
    }

    /**
     * Returns the time since the last check of visibility timeouts or of leases, whichever is longer. Normally it is at
     * most a tenth of a second.
     */
    public Duration sinceLastTick() {
        long now = now();
        return Duration.ofNanos(Math.max(now - lastTick, now - lastLeaseTick));
    }

    long now() {
        return clock.nanoTime();
    }

    /**
     * Starts to check for due renewals, ten times a second.
     *
     * @param threads a prefix for the names of the two threads
     * @return stops the checks when it is closed
     */
    public EngineScheduler.PeriodicTask begin(EngineScheduler scheduler, String threads) {
        lastTick = now();
        lastLeaseTick = lastTick;
        EngineScheduler.PeriodicTask visibilityTicks = scheduler.every(TICK, threads + 1, this::tickVisibility);
        EngineScheduler.PeriodicTask leaseTicks = scheduler.every(TICK, threads + 2, this::tickLeases);
        return () -> {
            leaseTicks.close();
            visibilityTicks.close();
        };
    }

    /**
     * Checks once, and renews all visibility timeouts and leases that are due. Does not wait for answers. Does not
     * throw if a renewal fails.
     */
    public void tick() {
        tickLeases();
        tickVisibility();
    }

    private void tickLeases() {
        deadlines.forEach(HandlerDeadline::expire);
        long now = now();
        lastLeaseTick = now;
        List<Lease> due = due(leases, now);
        waiting.addAll(due);
        for (int from = 0; from < due.size(); from += CHUNK) {
            leaseThread.execute(this::renewWaiting);
        }
    }

    /**
     * Renews up to {@value #CHUNK} due leases in one call of the store. Leases that become due during a slow call share
     * the next call. So a slow store does not get more calls than it can answer.
     */
    private void renewWaiting() {
        List<Lease> chunk = new ArrayList<>();
        waiting.drainTo(chunk, CHUNK);
        Boundary.guard(
                "A renewal of leases",
                () -> renew(chunk.stream().filter(Lease::isInProgress).toList()),
                crash -> chunk.forEach(lease -> lease.answered(Result.FAILED, now())));
    }

    private void tickVisibility() {
        long now = now();
        noticePause(now);
        due(visibilities, now).stream()
                .collect(Collectors.groupingBy(visibility -> visibility.subscription.visibility()))
                .forEach((queue, messages) -> renew(queue, messages, now));
    }

    /**
     * Logs a pause of the JVM or its machine, which makes this check late. A machine's suspension is not noticed if its
     * monotonic clock stops meanwhile.
     */
    private void noticePause(long now) {
        long late = now - lastTick - TICK.toNanos();
        lastTick = now;
        // A delay is reported if it is at least a quarter of the visibility timeout of one of the messages. That is
        // never less than a tick, so shorter delays need no search.
        if (late >= ALWAYS_LATE.toNanos()
                || (late >= TICK.toNanos()
                        && visibilities.stream().anyMatch(visibility -> late >= visibility.length.toNanos() / PART))) {
            log.warn(
                    "Renewals were paused for {} ms, with {} deliveries in flight; those whose "
                            + "visibility timeouts have expired are not renewed. Look for long garbage "
                            + "collections, a starved CPU or a suspended machine",
                    late / 1_000_000,
                    visibilities.size());
            events.accept(new RenewalEvent.Paused(Duration.ofNanos(late)));
        }
    }

    /**
     * Returns the visibility timeouts or leases that the caller must renew now, and marks their renewals as requested.
     * If one renewal is due, those that are nearly due are returned, too, so that they share requests. Also ends the
     * visibility timeouts or leases that are lost.
     */
    private static <R extends Renewable> List<R> due(Collection<R> renewed, long now) {
        boolean anyDue = false;
        for (R each : renewed) {
            each.expire(now);
            anyDue = anyDue || each.isDue(now);
        }
        return anyDue ? renewed.stream().filter(each -> each.attempt(now)).toList() : List.of();
    }

    private static void renew(QueueVisibility queue, List<MessageVisibility> due, long askedAt) {
        List<Change> changes = due.stream()
                .map(visibility -> new Change(visibility.receiptHandle, (int)
                        visibility.granted(askedAt).toSeconds()))
                .toList();
        Boundary.detach(
                "A renewal of visibility timeouts",
                queue.change(changes)
                        .exceptionally(crash -> new Answers(Map.of(), crash))
                        .thenAccept(answers -> answered(due, answers, askedAt)));
    }

    private static void answered(List<MessageVisibility> due, Answers answers, long askedAt) {
        if (answers.failure() != null) {
            log.warn(
                    "Renewing visibility timeouts of {} failed; renewals are retried until the timeouts end",
                    due.get(0).subscription,
                    PrintableException.of(answers.failure()));
        }
        for (MessageVisibility visibility : due) {
            visibility.answered(result(answers.of(visibility.receiptHandle)), askedAt);
        }
    }

    private static Result result(QueueVisibility.Result answer) {
        return switch (answer) {
            case CHANGED -> Result.SUCCEEDED;
            case REFUSED -> Result.LOST;
            case FAILED -> Result.FAILED;
        };
    }

    private void renew(List<Lease> due) {
        if (due.isEmpty()) {
            return;
        }
        long askedAt = now();
        ClaimAnswers answers;
        try {
            answers = store.renew(due.stream()
                    .map(lease -> new LeaseRenewal(lease.claim, lease.length))
                    .toList());
        } catch (RuntimeException none) {
            answers = new ClaimAnswers(
                    Set.of(), due.stream().map(lease -> lease.claim).collect(Collectors.toSet()), none);
        }
        logFailure(answers);
        for (Lease lease : due) {
            Result answer = answers.granted().contains(lease.claim) ? Result.SUCCEEDED : Result.LOST;
            lease.answered(answers.unanswered().contains(lease.claim) ? Result.FAILED : answer, askedAt);
        }
    }

    private void logFailure(ClaimAnswers answers) {
        boolean isFailed = !answers.unanswered().isEmpty();
        if (isFailed) {
            RuntimeException failure = answers.failure();
            String why = failure == null ? answers.reason() : PrintableException.reason(failure);
            log.warn(
                    "Renewing {} leases failed; renewals are retried until they expire: {}",
                    answers.unanswered().size(),
                    OneLine.of(why, LONGEST_REASON),
                    isLogged || failure == null ? null : PrintableException.of(failure));
        }
        isLogged = isFailed;
    }
}
