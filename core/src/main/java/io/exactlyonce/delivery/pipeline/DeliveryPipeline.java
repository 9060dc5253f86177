package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.ClaimScope;
import io.exactlyonce.delivery.DeliveryObserver.HandlerScope;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.UnfinishedWork;
import io.exactlyonce.time.NanoClock;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes deliveries from the poll until their outcomes are recorded. Every step takes a list of one subscription; a
 * single message is a list of one. No step waits for the store.
 *
 * <ol>
 *   <li>{@link #claim}: all keys in one call, before there are threads, or when there is one. A call that gets no
 *       answer is repeated in place. A delivery that acquires no key waits, is deleted or is returned, and goes no
 *       further.
 *   <li>{@link #admit}: a delivery whose lease is over, or whose group has been stopped, is not handled. Asked when the thread is
 *       there, and again when the method is called.
 *   <li>{@link #handle}: reconciler, then handler, once.
 *   <li>{@link #record}: completions, parkings and releases in one call, behind the handler, whose thread does not wait for the store.
 * </ol>
 *
 * <p>Each delivery is settled when it has left its listener and its outcome is recorded ({@link Deliveries#settle}).
 *
 * <p>Guaranteed: the handler is called once at most (in a transaction once more if it named deliveries that failed, or
 * lost its connection: all that it wrote is rolled back by then), only with deliveries whose keys are claimed, in their
 * order; a delivery is acknowledged only after its claim's completion is recorded, by this delivery or an earlier one;
 * each is judged by its own claim, as if it had come alone. The claim is held until a handler's future has ended and
 * that is recorded. A handler that must stop is interrupted, once, while its method has not returned; then its future
 * is cancelled, once. A future that was only cancelled says nothing about its work, so its claim is not released, but
 * left to the end of its lease.
 *
 * <p>Not guaranteed: that the effects of a handler whose process dies before its completion is recorded happen only
 * once; the next attempt sees {@link io.exactlyonce.Claim#isInDoubt()}.
 */
public final class DeliveryPipeline {

    private static final Logger log = LoggerFactory.getLogger(DeliveryPipeline.class);

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    final RetryingClaimClient claims;
    private final OutcomePolicy policy;
    private final StoredResults results;
    final DeliveryObserver observer;
    final NanoClock clock;
    private final Executor cancellations;

    /**
     * @param claims claims keys, and ends claims
     * @param policy settings for claims, and decisions on deliveries that acquire none
     * @param results writes handlers' results
     * @param observer is notified of claims and handlers
     * @param clock monotonic, in nanoseconds
     * @param cancellations cancels futures of handlers, which may call the application's own code; must not make its caller wait
     */
    public DeliveryPipeline(
            RetryingClaimClient claims,
            OutcomePolicy policy,
            StoredResults results,
            DeliveryObserver observer,
            NanoClock clock,
            Executor cancellations) {
        this.claims = claims;
        this.policy = policy;
        this.results = results;
        this.observer = observer;
        this.clock = clock;
        this.cancellations = cancellations;
    }

    /**
     * Claims the keys that were not asked for yet, in one call.
     *
     * @return completes when each is acquired or refused, or has finally got no answer
     */
    public CompletableFuture<Void> claim(List<Delivery> deliveries) {
        List<Delivery> asking = beginProcessing(deliveries);
        if (asking.isEmpty()) {
            return DONE;
        }
        List<ClaimRequest> requests = new ArrayList<>(asking.size());
        asking.forEach(delivery -> requests.add(makeRequest(delivery)));
        ClaimScope scope = observer.claiming(asking);
        Repeats repeats = new Repeats(asking);
        CompletableFuture<Void> claimed = new CompletableFuture<>();
        claims.claim(requests, (failures, failure) -> repeats.shouldRetry(failure), (outcomes, failure, askedAt) -> {
            repeats.end();
            Boundary.guard(
                    "The answer to a claim",
                    () -> answered(asking, outcomes, failure, askedAt, scope),
                    claimed::completeExceptionally);
            claimed.complete(null);
        });
        return claimed;
    }

    /** Begins those whose listener has not stopped; returns those whose keys are to be claimed. */
    List<Delivery> beginProcessing(List<Delivery> deliveries) {
        List<Delivery> asking = new ArrayList<>(deliveries.size());
        for (Delivery delivery : deliveries) {
            if (delivery.beginProcessing() && delivery.isToBeClaimed()) {
                asking.add(delivery);
            }
        }
        return asking;
    }

    ClaimRequest makeRequest(Delivery delivery) {
        return delivery.makeRequest(policy.of(delivery).terms());
    }

    private void answered(
            List<Delivery> asking,
            @Nullable List<ClaimOutcome> outcomes,
            @Nullable Throwable failure,
            long askedAt,
            ClaimScope scope) {
        if (outcomes == null) {
            asking.forEach(delivery -> unanswered(delivery, failure));
            scope.end(List.of(), failure);
            return;
        }
        asking.get(0).subscription().gate().answered();
        for (int index = 0; index < outcomes.size(); index++) {
            answered(asking.get(index), outcomes.get(index), askedAt);
        }
        scope.end(outcomes, null);
        for (int index = 0; index < outcomes.size(); index++) {
            notifyClaimed(asking.get(index), outcomes.get(index));
        }
    }

    private void answered(Delivery delivery, ClaimOutcome outcome, long askedAt) {
        if (!(outcome instanceof Acquired acquired)) {
            refuse(delivery, outcome);
        } else if (!delivery.acquired(acquired, askedAt, claims::fence)) {
            // Its listener has ended it meanwhile.
            claims.release(delivery, () -> {});
        }
    }

    void notifyClaimed(Delivery delivery, ClaimOutcome outcome) {
        observer.on(new DeliveryEvent.Claimed(
                delivery.subscription(), delivery.spec().key(), outcome));
    }

    void refuse(Delivery delivery, ClaimOutcome outcome) {
        delivery.decide(policy.decide(delivery, outcome));
    }

    /** It is returned with a long delay: it was not tried. */
    void unanswered(Delivery delivery, @Nullable Throwable why) {
        if (why instanceof IllegalArgumentException) {
            log.error("{} is returned: its key, or another key of its poll, cannot be claimed", delivery, why);
        } else {
            log.warn(
                    "{} is returned: the claim of {} got no answer",
                    delivery,
                    delivery.spec().key());
        }
        delivery.decide(new Disposition.Return(policy.of(delivery).backoff().sparing(delivery)));
    }

    /**
     * Decides how long a claim without an answer is repeated: while no claim on its path is answered, a few times while
     * others are, and forever if its message would otherwise leave its queue untried; but not once it is useless.
     * Counts its deliveries as waiting once it has failed a few times.
     */
    static final class Repeats {

        private final List<Delivery> asking;
        private final Subscription subscription;
        private int failures;
        private int alone;
        private boolean wasPaused;
        private boolean isWaiting;

        Repeats(List<Delivery> asking) {
            this.asking = asking;
            this.subscription = asking.get(0).subscription();
        }

        boolean shouldRetry(Throwable failure) {
            subscription.gate().unanswered(failure);
            boolean isPaused = subscription.gate().isPaused();
            // An attempt that began in an outage says nothing about later answers.
            alone += isPaused || wasPaused ? 0 : 1;
            wasPaused = isPaused;
            if (asking.stream().noneMatch(Delivery::mayStillBeHandled)) {
                return false;
            }
            failures++;
            if (failures == RetryingClaimClient.FEW) {
                isWaiting = true;
                subscription.levels().waiting().addAndGet(asking.size());
            }
            return alone < RetryingClaimClient.FEW
                    || isPaused
                    || asking.stream().anyMatch(Delivery::isOnItsLastReceive);
        }

        void end() {
            if (isWaiting) {
                isWaiting = false;
                subscription.levels().waiting().addAndGet(-asking.size());
            }
        }
    }

    /**
     * Returns those that may be handled now: their keys are held, and they overtake no other one. The others leave, and
     * release their claims.
     */
    public List<Delivery> admit(List<Delivery> deliveries) {
        HandlerOutcome outcome = new HandlerOutcome();
        List<Delivery> admitted = admit(deliveries, outcome);
        outcome.failures().forEach(failure -> log.warn("Not handled: {}", failure.getMessage()));
        return admitted;
    }

    private List<Delivery> admit(List<Delivery> deliveries, HandlerOutcome outcome) {
        return pass(deliveries, (admission, delivery) -> admission.admits(delivery, outcome));
    }

    /** Returns those that pass a gate, checked in their order. The others leave, and release their claims. */
    private List<Delivery> pass(List<Delivery> deliveries, BiPredicate<Admission, Delivery> gate) {
        Admission admission = new Admission();
        List<Delivery> passed = new ArrayList<>(deliveries.size());
        List<Delivery> rest = new ArrayList<>(0);
        for (Delivery delivery : deliveries) {
            (gate.test(admission, delivery) ? passed : rest).add(delivery);
        }
        record(rest);
        return passed;
    }

    /**
     * Decides which deliveries a handler may get, in their order. On a FIFO queue a message that stays in its queue
     * stops the later ones of its group, which must not overtake it: their claims are released, and they are visible
     * again when their batch is done. The messages of a standard queue have no group, and stop no other.
     */
    static final class Admission {

        private final Set<String> stoppedGroups = new HashSet<>(0);

        boolean admits(Delivery delivery, HandlerOutcome outcome) {
            if (isStopped(delivery)) {
                reject(delivery);
                return false;
            }
            if (delivery.isReady()) {
                return true;
            }
            if (delivery.isAcquired()) {
                outcome.add(delivery.claim()
                        .lost("its lease or timeout had expired, or its listener had stopped, "
                                + "before the handler was called"));
                delivery.release(FailedAttempt.NOT_CALLED);
            }
            stopGroupOf(delivery);
            return false;
        }

        /** Returns whether its handler is called now: its listener's stop may be faster. */
        boolean beginsHandling(Delivery delivery) {
            if (isStopped(delivery)) {
                reject(delivery);
                return false;
            }
            boolean enters = delivery.beginHandling();
            if (!enters) {
                stopGroupOf(delivery);
            }
            return enters;
        }

        /**
         * A message is not handled; unless its key is completed, or this is its last receive, the rest of its group
         * waits.
         */
        void stopGroupOf(Delivery delivery) {
            if (!delivery.group().isEmpty() && !delivery.leavesItsQueue()) {
                stoppedGroups.add(delivery.group());
            }
        }

        boolean isStopped(Delivery delivery) {
            return stoppedGroups.contains(delivery.group());
        }

        private void reject(Delivery delivery) {
            if (delivery.isAcquired()) {
                delivery.release("an earlier message of its group comes first");
            }
            returnImmediately(delivery);
        }

        /** Makes its message visible when its batch is done, unless it is deleted: an earlier one of its group comes first. */
        static void returnImmediately(Delivery delivery) {
            delivery.decide(new Disposition.Return(Duration.ZERO));
        }
    }

    /** Releases claims that did not reach their handler. */
    public void releaseUnhandled(List<Delivery> deliveries) {
        List<Delivery> unhandled = new ArrayList<>(0);
        for (Delivery delivery : deliveries) {
            if (delivery.state() == DeliveryState.CLAIMED) {
                delivery.release(FailedAttempt.NOT_CALLED);
                unhandled.add(delivery);
            }
        }
        record(unhandled);
    }

    /**
     * Handles deliveries of one subscription whose keys are held, or are claimed in the handler's transaction. The
     * outcome is recorded after the handler: {@link Delivery#processed()} then completes.
     *
     * @param deliveries in their order
     * @return the handler's result if the delivery came alone, else {@code null}. A future if the handler returned one: it ends when
     *     the work does, without a result of a batch, and fails with what follows
     * @throws Throwable the handler's exception, or {@link io.exactlyonce.ClaimLostException} if a claim was lost
     *     before the handler was called; other failures are suppressed in it
     */
    @SuppressWarnings("FutureReturnValueIgnored") // It is what the caller asked for.
    public @Nullable Object handle(List<Delivery> deliveries, Handler handler) throws Throwable {
        if (areTransactional(deliveries)) {
            try (TransactionalHandler attempts = transactions(deliveries)) {
                return attempts.handle(handler);
            }
        }
        requireBegun(deliveries);
        HandlerOutcome outcome = new HandlerOutcome();
        List<Delivery> entered = beginHandling(deliveries, outcome);
        if (entered.isEmpty()) {
            return resultOrThrow(outcome);
        }
        Cancellation call = new Cancellation();
        entered.forEach(delivery -> delivery.beginCall(call));
        HandlerScope scope = observer.handling(entered);
        long begun = clock.nanoTime();
        BiConsumer<@Nullable Object, @Nullable Throwable> end = (result, thrown) -> {
            Throwable refused = thrown == null ? call.refusal() : thrown;
            Throwable unfinished = refused == null ? unfinished(entered, result) : null;
            Throwable failure = refused == null ? unfinished : refused;
            ended(entered, scope, failure, begun);
            if (failure == null) {
                succeeded(entered, result, outcome);
            } else if (call.mayStillRun(failure)) {
                leaveToLease(entered, failure, outcome);
            } else {
                failed(entered, failure, unfinished != null, call, outcome);
            }
            record(entered);
        };
        Object returned;
        try (call) {
            returned = handler.handle(entered);
        } catch (Throwable thrown) {
            scope.leave();
            end.accept(null, thrown);
            return resultOrThrow(outcome);
        }
        scope.leave();
        if (returned instanceof CompletionStage<?> stage) {
            return awaitFuture(entered, stage, call, outcome, end);
        }
        end.accept(returned, null);
        return resultOrThrow(outcome);
    }

    /**
     * Returns the failure of a handler whose result stands for work that may continue, so that its key is in doubt; {@code null} for
     * all other results.
     */
    static @Nullable Throwable unfinished(List<Delivery> handled, @Nullable Object result) {
        Class<?> type = UnfinishedWork.in(result);
        return type == null
                ? null
                : new IllegalStateException(
                        "The handler of listener '%s' returned %s, whose work may not have ended; return a CompletableFuture of the work, or return when the work is done"
                                .formatted(handled.get(0).subscription().listener(), type.getName()));
    }

    /** Returns what claims the keys of deliveries in the transactions that their handler is called in. */
    public TransactionalHandler transactions(List<Delivery> deliveries) {
        return new TransactionalHandler(this, deliveries);
    }

    private static boolean areTransactional(List<Delivery> deliveries) {
        for (Delivery delivery : deliveries) {
            if (delivery.isTransactional()) {
                return true;
            }
        }
        return false;
    }

    private CompletableFuture<@Nullable Object> awaitFuture(
            List<Delivery> entered,
            CompletionStage<?> stage,
            Cancellation call,
            HandlerOutcome outcome,
            BiConsumer<@Nullable Object, @Nullable Throwable> ended) {
        CompletableFuture<?> future;
        try {
            future = stage.toCompletableFuture();
        } catch (RuntimeException none) {
            // Its work continues, and its end is unknown.
            future = CompletableFuture.failedFuture(call.cancelled(none));
        }
        CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
        var unused = call.continueWith(future, cancellations, ended).whenComplete((done, crash) -> {
            Throwable failure = crash == null ? outcome.failure() : crash;
            if (crash != null) {
                entered.forEach(Delivery::finishProcessing);
            }
            if (failure == null) {
                answer.complete(outcome.result());
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    static @Nullable Object resultOrThrow(HandlerOutcome outcome) throws Throwable {
        Throwable failure = outcome.failure();
        if (failure != null) {
            throw failure;
        }
        return outcome.result();
    }

    void requireBegun(List<Delivery> deliveries) {
        for (Delivery delivery : deliveries) {
            if (delivery.beginProcessing()) {
                return;
            }
        }
        throw new CancellationException("%s was not started: its listener has stopped"
                .formatted(
                        deliveries.size() == 1
                                ? deliveries.get(0)
                                : "A batch of %d messages".formatted(deliveries.size())));
    }

    /** Admits deliveries, begins the listener's timeout, one for all that follows, and reconciles keys that are in doubt. */
    private List<Delivery> beginHandling(List<Delivery> deliveries, HandlerOutcome outcome) {
        List<Delivery> ready = admit(deliveries, outcome);
        ready.forEach(delivery -> delivery.window().startTimeout(delivery::stopHandler));
        if (ready.stream().anyMatch(Reconciling::isToBeAsked)) {
            Reconciling reconciling = new Reconciling(outcome, this::completion);
            // That may take long.
            ready = admit(pass(ready, reconciling::admits), outcome);
        }
        return pass(ready, Admission::beginsHandling);
    }

    /** The handler's work has ended. */
    void ended(List<Delivery> called, HandlerScope scope, @Nullable Throwable failure, long begun) {
        scope.end(failure);
        observer.on(
                new DeliveryEvent.Handled(called.get(0).subscription(), Duration.ofNanos(clock.nanoTime() - begun)));
    }

    private static void leaveToLease(List<Delivery> entered, Throwable cancelled, HandlerOutcome outcome) {
        outcome.addHandlers(cancelled);
        for (Delivery delivery : entered) {
            log.warn(
                    "{}: its handler's future was cancelled, but its work may continue; {} can be "
                            + "claimed again when its lease ends",
                    delivery,
                    delivery.spec().key());
            delivery.window().stopLeaseRenewal();
            delivery.hadNoEffect();
        }
    }

    private void succeeded(List<Delivery> entered, @Nullable Object result, HandlerOutcome outcome) {
        for (Delivery delivery : entered) {
            delivery.resolve(completion(delivery, result));
            outcome.result(delivery.keepsResult() ? result : null);
        }
    }

    private ClaimResolution completion(Delivery delivery, @Nullable Object result) {
        return new ClaimResolution.Completed(delivery.id(), json(delivery, result));
    }

    /** The effect has happened, so a result that cannot be written must not leave the claim open. */
    @Nullable String json(Delivery delivery, @Nullable Object result) {
        return result == null || !delivery.keepsResult()
                ? null
                : results.writeIfPossible(delivery.spec().key(), result);
    }

    private void failed(
            List<Delivery> entered, Throwable thrown, boolean isUnfinished, Cancellation call, HandlerOutcome outcome) {
        outcome.addHandlers(thrown);
        HandlerFailure whole = HandlerFailure.of(thrown);
        Map<Integer, Throwable> named = whole.ofItems(entered.size());
        // A handler that learns of one lost claim stops half way: its effects for the others are in doubt, too.
        boolean wasStopped = isUnfinished
                || call.wasStopped()
                || (named.isEmpty()
                        && whole.wasStopped(entered.stream().map(Delivery::id).toList()));
        for (int index = 0; index < entered.size(); index++) {
            Delivery delivery = entered.get(index);
            Throwable failure = named.isEmpty() ? thrown : named.get(index);
            if (failure != null) {
                delivery.failed(failure);
            }
            delivery.resolve(resolution(delivery, failure, wasStopped, call));
        }
    }

    private ClaimResolution resolution(
            Delivery delivery, @Nullable Throwable failure, boolean wasStopped, Cancellation call) {
        if (failure == null) {
            return completion(delivery, null);
        }
        InDoubtSettings doubt = delivery.spec().doubt();
        return call.hasWorked()
                ? FailedAttempt.resolution(delivery.id(), failure, wasStopped, doubt)
                : FailedAttempt.notCalled(delivery.id(), failure, doubt);
    }

    /**
     * Records the outcomes of deliveries in one call; each leaves when that is answered, or no longer needed. Claims
     * that seem lost are also completed: the store decides whether another worker has taken a key over, and if none
     * has, the effect is recorded.
     */
    private void record(List<Delivery> deliveries) {
        List<Delivery> ended = new ArrayList<>(deliveries.size());
        List<ClaimResolution> resolutions = new ArrayList<>(deliveries.size());
        for (Delivery delivery : deliveries) {
            ClaimResolution resolution = delivery.takeResolution();
            if (resolution != null) {
                ended.add(delivery);
                resolutions.add(resolution);
            } else {
                finishProcessing(delivery);
            }
        }
        if (resolutions.isEmpty()) {
            return;
        }
        // The next message of a group begins when this is recorded. Otherwise a completion may wait for others to share
        // a transaction.
        boolean isAwaited = ended.get(0).subscription().isFifo()
                || !resolutions.stream().allMatch(ClaimResolution.Completed.class::isInstance);
        claims.resolve(
                resolutions,
                isAwaited,
                (failures, failure) -> {
                    for (int index = 0; index < ended.size(); index++) {
                        if (isRecordWanted(ended.get(index), resolutions.get(index), failures)) {
                            return true;
                        }
                    }
                    return false;
                },
                (recorded, failure, askedAt) -> Boundary.guard(
                        "The record of outcomes",
                        () -> {
                            for (int index = 0; index < ended.size(); index++) {
                                recorded(ended.get(index), resolutions.get(index), recorded, failure);
                            }
                        },
                        crash -> ended.forEach(Delivery::finishProcessing)));
    }

    /**
     * An effect is retried while its listener runs; a failure, also only while no other consumer can have its message.
     */
    private static boolean isRecordWanted(Delivery delivery, ClaimResolution resolution, int failures) {
        return resolution instanceof ClaimResolution.Completed
                ? !delivery.isAbandoned()
                : failures < RetryingClaimClient.FEW
                        || (!delivery.isAbandoned() && delivery.window().isInvisible());
    }

    private void recorded(
            Delivery delivery,
            ClaimResolution resolution,
            @Nullable Set<ClaimId> recorded,
            @Nullable Throwable failure) {
        delivery.window().stopLeaseRenewal();
        boolean isRecorded = recorded != null && recorded.contains(resolution.claim());
        if (isRecorded) {
            if (resolution instanceof ClaimResolution.Completed) {
                delivery.transition(DeliveryState.HANDLED, DeliveryState.RECORDED);
            } else if (resolution instanceof ClaimResolution.Parked) {
                parked(delivery);
            }
        } else {
            logUnrecorded(delivery, resolution, recorded != null, failure);
        }
        delivery.finishProcessing();
    }

    /** The attempt has parked its key. Its message is not tried again. */
    void parked(Delivery delivery) {
        delivery.decide(policy.parked(delivery));
        observer.on(new DeliveryEvent.Parked(
                delivery.subscription(), delivery.spec().key()));
    }

    private void logUnrecorded(
            Delivery delivery, ClaimResolution resolution, boolean isAnswered, @Nullable Throwable failure) {
        Object key = resolution.claim().key();
        if (resolution instanceof ClaimResolution.Completed && isAnswered) {
            log.error(
                    "{} is neither deleted nor returned: its handler has succeeded, but another worker took {} over before"
                            + " that was recorded; its result is discarded",
                    delivery,
                    key);
            observer.on(new DeliveryEvent.CompletionLost(delivery.subscription()));
        } else if (resolution instanceof ClaimResolution.Completed) {
            log.error(
                    "{} is neither deleted nor returned: its handler's success could not be recorded "
                            + "before its listener stopped, so {} is in doubt when its lease ends: {}",
                    delivery,
                    key,
                    RetryingClaimClient.why(failure));
        } else if (resolution instanceof ClaimResolution.Parked && isAnswered) {
            log.warn("{} is not parked: another worker took the key over", key);
        } else if (resolution instanceof ClaimResolution.Parked) {
            log.error(
                    "Parking {} failed; it is in doubt when its lease ends: {}", key, RetryingClaimClient.why(failure));
        } else if (!isAnswered) {
            log.warn(
                    "Releasing {} failed; it can be claimed again when its lease ends: {}",
                    key,
                    RetryingClaimClient.why(failure));
        }
    }

    /** Leaves, unless its listener's stop does that. */
    static void finishProcessing(Delivery delivery) {
        if (delivery.state() != DeliveryState.HELD_BACK) {
            delivery.finishProcessing();
        }
    }
}
