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
 * Processes deliveries, from the claim of their keys to the record of their outcomes. Each step gets a list of
 * deliveries of one subscription. A single message is a list of one.
 * <ol>
 * <li>{@link #claim} ({@link Claiming}) claims all keys in one call. Depending on the listener, this happens with the
 * poll, or when a thread is free for the handler.
 * <li>{@link #admit} ({@link Admission}) leaves out deliveries whose lease has expired, or which would overtake an
 * earlier message of their FIFO group.
 * <li>{@link #handle} ({@link HandlerCall}) calls the reconciler and then the handler. With {@code effects = DATABASE},
 * {@link TransactionalHandler} does all steps in one transaction, on the handler's thread.
 * <li>{@link Recording} records completions, parkings and releases in one call. The handler's thread does not wait for
 * the store.
 * </ol>
 *
 * <p>Leases may expire while deliveries wait. So {@link Admission} checks a delivery up to four times:
 * <ol>
 * <li>when the key was claimed with the poll
 * <li>when the container has a thread for the delivery, before interceptors
 * <li>when the handler is to be called
 * <li>after a reconciler, which may take long
 * </ol>
 *
 * <p>Then one compare-and-set of the delivery's state starts the handler. If the listener stops first, the handler is
 * not called. At the end, {@link Deliveries#settle} deletes or returns the message.
 *
 * <p>Guaranteed:
 * <ul>
 * <li>The handler is called at most once, and gets the deliveries in their order. All keys are claimed, unless the
 * listener permits messages without a key.
 * <li>With {@code effects = DATABASE}, the handler may be called again in a new transaction (for example after its
 * connection was lost). All writes of the first call are then rolled back.
 * <li>A message is deleted only after the completion of its key is recorded, by this delivery or an earlier one.
 * Messages without a key are an exception.
 * <li>Each message of a batch has its own claim, which decides whether the message is deleted or returned.
 * <li>The claim is held until the handler's future has ended and the outcome is recorded.
 * <li>A handler that must stop is interrupted at most once, and its future is cancelled at most once. The work may
 * continue after its future was cancelled. So its claim is not released, and ends with its lease.
 * </ul>
 *
 * <p>Not guaranteed: if the process dies after the effects and before the completion is recorded, the effects may
 * happen again. The next attempt sees {@link io.exactlyonce.Claim#isInDoubt()}.
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
     * @param claims sends claims and their outcomes to the store
     * @param policy the settings for claims, and the decisions on messages whose key could not be claimed
     * @param results writes handlers' results as JSON
     * @param observer is notified of claims and of handlers' calls
     * @param clock monotonic, in nanoseconds
     * @param cancellations cancels handlers' futures. Must use another thread than the caller's, because {@code cancel}
     *     may run the application's code
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
     * Claims the keys that are not claimed yet, in one call.
     *
     * @return a future that completes when the store has answered, or when the call is not repeated any more. Fails
     *     only if this library's own code crashes
     */
    public CompletableFuture<Void> claim(List<Delivery> deliveries) {
        return claiming.claim(deliveries);
    }

    /**
     * Returns the deliveries whose handler may be called now: their keys are claimed, and they overtake no other
     * delivery of their FIFO group. The other deliveries leave the pipeline, and their claims are released.
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

    /** Returns the deliveries that pass a check. The others leave the pipeline, and their claims are released. */
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
     * Calls the handler with deliveries of one subscription. Their keys are already claimed, or are claimed in the
     * handler's transaction. When the outcome is recorded, {@link Delivery#processed()} completes.
     *
     * @param deliveries in their order
     * @return the handler's result for a single delivery, and {@code null} for a batch. If the handler returned a
     *     future, this is a future, too. It completes with the same result or failure when the work has ended
     * @throws Throwable the handler's exception, or {@link io.exactlyonce.ClaimLostException} if a claim was lost
     *     before the handler was called. Further failures are its suppressed exceptions
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
     * Admits deliveries, starts the listener's timeout, and calls the reconciler for keys in doubt. So the timeout
     * includes the time of the reconciler.
     */
    private List<Delivery> beginHandling(List<Delivery> deliveries, HandlerOutcome outcome) {
        List<Delivery> ready = admit(deliveries, outcome);
        ready.forEach(delivery ->
                delivery.visibility().startTimeout(delivery.attempt().key(), delivery::stopHandler));
        if (ready.stream().anyMatch(Reconciling::isToBeAsked)) {
            Reconciling reconciling = new Reconciling(outcome, recording::completion);
            // The reconciler may take long, so the deliveries are admitted once more.
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

    /** Returns a handler that claims the keys of these deliveries in its own transactions. */
    public TransactionalHandler transactions(List<Delivery> deliveries) {
        return new TransactionalHandler(claims, claiming, recording, observer, clock, deliveries);
    }

    /** Releases the claims of deliveries whose handler was not called. */
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
