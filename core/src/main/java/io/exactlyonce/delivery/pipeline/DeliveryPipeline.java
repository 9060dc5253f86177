package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes deliveries from the poll until their outcomes are recorded. Every step takes a list of one subscription; a
 * single message is a list of one.
 *
 * <ol>
 *   <li>{@link #claim} ({@link Claiming}): all keys in one call, before there are threads, or when there is one. No thread waits, but
 *       for those of listeners whose keys are claimed on their handlers' threads.
 *   <li>{@link #admit} ({@link Admission}): a delivery whose lease is over, or whose group has been stopped, is not handled.
 *   <li>{@link #handle} ({@link HandlerCall}): reconciler, then handler, once. With {@code effects = DATABASE} the {@link
 *       TransactionalHandler} does all steps in one transaction, on the handler's thread.
 *   <li>then {@link Recording}: completions, parkings and releases in one call, behind the handler, whose thread does not wait for
 *       the store.
 * </ol>
 *
 * <p>A delivery is admitted when its key was claimed with its poll, when the container has a thread for it (before interceptors), when
 * its handler is to be called, and once more if a reconciler was asked, which may take long. Last, it enters its handler in one
 * compare-and-set, which the stop of its listener may win.
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

    private final RetryingClaimClient claims;
    private final Claiming claiming;
    private final Recording recording;
    private final DeliveryObserver observer;
    private final NanoClock clock;
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
        this.claiming = new Claiming(claims, policy, observer);
        this.recording = new Recording(claims, policy, results, observer);
        this.observer = observer;
        this.clock = clock;
        this.cancellations = cancellations;
    }

    /**
     * Claims the keys that were not asked for yet, in one call.
     *
     * @return completes when each is acquired or refused, or has finally got no answer; fails after a crash only
     */
    public CompletableFuture<Void> claim(List<Delivery> deliveries) {
        return claiming.claim(deliveries);
    }

    /**
     * Returns the deliveries that may be handled now: they hold their keys, and overtake no other delivery of their group. Ends the
     * others, and releases their claims.
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
        recording.record(rest);
        return passed;
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
    public @Nullable Object handle(List<Delivery> deliveries, Handler handler) throws Throwable {
        if (areTransactional(deliveries)) {
            try (TransactionalHandler attempts = transactions(deliveries)) {
                return attempts.handle(handler);
            }
        }
        Claiming.requireBegun(deliveries);
        HandlerOutcome outcome = new HandlerOutcome();
        List<Delivery> called = beginHandling(deliveries, outcome);
        if (called.isEmpty()) {
            return outcome.resultOrThrow();
        }
        ObservedCall observed = ObservedCall.begin(called, observer, clock);
        return new HandlerCall(called, observed, recording, cancellations, outcome).make(handler);
    }

    /** Admits deliveries, begins the listener's timeout, one for all that follows, and reconciles keys that are in doubt. */
    private List<Delivery> beginHandling(List<Delivery> deliveries, HandlerOutcome outcome) {
        List<Delivery> ready = admit(deliveries, outcome);
        ready.forEach(
                delivery -> delivery.window().startTimeout(delivery.attempt().key(), delivery::stopHandler));
        if (ready.stream().anyMatch(Reconciling::isToBeAsked)) {
            Reconciling reconciling = new Reconciling(outcome, recording::completion);
            // That may take long.
            ready = admit(pass(ready, reconciling::admits), outcome);
        }
        return pass(ready, Admission::beginsHandling);
    }

    private static boolean areTransactional(List<Delivery> deliveries) {
        for (Delivery delivery : deliveries) {
            if (delivery.attempt().isTransactional()) {
                return true;
            }
        }
        return false;
    }

    /** Returns what claims the keys of deliveries in the transactions that their handler is called in. */
    public TransactionalHandler transactions(List<Delivery> deliveries) {
        return new TransactionalHandler(claims, claiming, recording, observer, clock, deliveries);
    }

    /** Releases claims that did not reach their handler. */
    public void releaseUnhandled(List<Delivery> deliveries) {
        List<Delivery> unhandled = new ArrayList<>(0);
        for (Delivery delivery : deliveries) {
            if (delivery.state() == DeliveryState.CLAIMED) {
                delivery.attempt().release(FailedAttempt.NOT_CALLED);
                unhandled.add(delivery);
            }
        }
        recording.record(unhandled);
    }
}
