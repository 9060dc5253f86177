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
 * Processes deliveries from the poll until their outcomes are recorded. Every step takes a list of deliveries of one
 * subscription; a single message is a list of one.
 * <ol>
 * <li>{@link #claim} ({@link Claiming}): claims all keys in one call, before there are threads, or when there is one.
 * No thread waits, except for listeners whose keys are claimed on their handlers' threads.
 * <li>{@link #admit} ({@link Admission}): leaves out deliveries whose lease has expired, or whose group was stopped.
 * <li>{@link #handle} ({@link HandlerCall}): calls the reconciler, then the handler, once. With {@code effects =
 * DATABASE} the {@link TransactionalHandler} does all steps in one transaction, on the handler's thread.
 * <li>{@link Recording}: records completions, parkings and releases in one call after the handler. The handler's thread
 * does not wait for the store.
 * </ol>
 *
 * <p>A delivery is admitted at up to four times: when its key was claimed with its poll; when the container has a
 * thread for it, before interceptors; when its handler is to be called; and after a reconciler, which may take long.
 * Last, the delivery enters its handler by one compare-and-set. If the listener's stop comes first, the handler is not
 * called.
 *
 * <p>Each delivery is settled when it has left its listener and its outcome is recorded ({@link Deliveries#settle}).
 *
 * <p>Guaranteed:
 * <ul>
 * <li>The handler is called at most once, only with deliveries whose keys are claimed, in their order. In a
 * transaction, it is called once more if it named deliveries that failed, or lost its connection; all its writes are
 * rolled back by then.
 * <li>A delivery is acknowledged only after its claim's completion is recorded, by this delivery or an earlier one.
 * <li>Each delivery is judged by its own claim, as if it had come alone.
 * <li>The claim is held until a handler's future has ended, and that end is recorded.
 * <li>A handler that must stop is interrupted, once, while its method has not returned; then its future is cancelled,
 * once. A future that was only cancelled says nothing about its work. So its claim is not released, and ends with its
 * lease.
 * </ul>
 *
 * <p>Not guaranteed: that effects happen only once if the process dies before its completion is recorded. The next
 * attempt sees {@link io.exactlyonce.Claim#isInDoubt()}.
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
     * @param claims claims keys, and resolves claims
     * @param policy settings for claims, and decisions on deliveries whose key is refused
     * @param results writes handlers' results
     * @param observer is notified of claims and handlers
     * @param clock monotonic, in nanoseconds
     * @param cancellations cancels futures of handlers, which may call the application's own code; must not make
     *     its caller wait
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
     * Claims the keys that were not requested yet, in one call.
     *
     * @return completes when each key is acquired or refused, or finally got no answer; fails only after a crash
     */
    public CompletableFuture<Void> claim(List<Delivery> deliveries) {
        return claiming.claim(deliveries);
    }

    /**
     * Returns the deliveries that may be handled now: they hold their keys, and overtake no other delivery of their
     * group. Ends the other deliveries, and releases their claims.
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

    /** Returns the deliveries that pass a gate, checked in their order. The others leave, and release their claims. */
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
     * outcome is recorded after the handler; then {@link Delivery#processed()} completes.
     *
     * @param deliveries in their order
     * @return the handler's result for a single delivery; {@code null} for a batch. If the handler returned a
     *     future, a future that ends with the work: without a result for a batch, and with the failures that follow the
     *     handler
     * @throws Throwable the handler's exception, or {@link io.exactlyonce.ClaimLostException} if a claim was lost
     *     before the handler was called; other failures are suppressed in it
     */
    public @Nullable Object handle(List<Delivery> deliveries, Handler handler) throws Throwable {
        if (areTransactional(deliveries)) {
            try (TransactionalHandler attempts = transactions(deliveries)) {
                return attempts.handle(handler);
            }
        }
        Claiming.requireStarted(deliveries);
        HandlerOutcome outcome = new HandlerOutcome();
        List<Delivery> called = beginHandling(deliveries, outcome);
        if (called.isEmpty()) {
            return outcome.resultOrThrow();
        }
        ObservedCall observed = ObservedCall.begin(called, observer, clock);
        return new HandlerCall(called, observed, recording, cancellations, outcome).make(handler);
    }

    /**
     * Admits deliveries, begins the listener's timeout, which covers everything that follows, and reconciles keys in
     * doubt.
     */
    private List<Delivery> beginHandling(List<Delivery> deliveries, HandlerOutcome outcome) {
        List<Delivery> ready = admit(deliveries, outcome);
        ready.forEach(delivery ->
                delivery.visibility().startTimeout(delivery.attempt().key(), delivery::stopHandler));
        if (ready.stream().anyMatch(Reconciling::isToBeAsked)) {
            Reconciling reconciling = new Reconciling(outcome, recording::completion);
            // Reconciling may take long, so the deliveries are admitted once more.
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

    /** Returns the handler that claims the keys of deliveries within its transactions. */
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
