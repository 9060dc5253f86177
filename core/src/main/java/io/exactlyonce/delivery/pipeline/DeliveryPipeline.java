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
 * Processes deliveries from their poll until their outcomes are recorded. Each step gets a list of deliveries of one
 * subscription. A single message is a list of one.
 * <ol>
 * <li>{@link #claim} ({@link Claiming}): claims all keys in one call, with the poll or when a thread is free for the
 * deliveries. No thread waits for the store, except the handler's thread if the listener's keys are claimed there.
 * <li>{@link #admit} ({@link Admission}): leaves out deliveries whose lease has expired or whose group was stopped.
 * <li>{@link #handle} ({@link HandlerCall}): calls the reconciler, and then the handler, once. With {@code effects =
 * DATABASE}, the {@link TransactionalHandler} does all steps in one transaction, on the handler's thread.
 * <li>{@link Recording}: records completions, parkings and releases in one call after the handler. The handler's thread
 * does not wait for the store.
 * </ol>
 *
 * <p>A delivery is admitted up to four times:
 * <ol>
 * <li>when its key was claimed with its poll
 * <li>when the container has a thread for the delivery, before interceptors
 * <li>when its handler is to be called
 * <li>after a reconciler, which may take long
 * </ol>
 *
 * <p>Then one compare-and-set of its state starts the handler. If the listener's stop changes the state first, the
 * handler is not called.
 *
 * <p>Each delivery is settled ({@link Deliveries#settle}) when it has left its listener's pipeline and its outcome is
 * recorded.
 *
 * <p>Guaranteed:
 * <ul>
 * <li>The handler is called at most once, and gets the deliveries in their order. Each of their keys is claimed, unless
 * the policy permits a call without a key. A transaction calls the handler again in two cases: the handler named
 * deliveries that failed, or the connection was lost. Before the second call, all writes of the first are rolled back.
 * <li>A delivery's message is deleted only after the completion of its key is recorded, by this delivery or an earlier
 * one. Messages without a key are an exception.
 * <li>Each delivery of a batch is judged by its own claim, as if its message had come alone.
 * <li>The claim is held until the handler's future has ended and the outcome is recorded.
 * <li>A handler that must stop is interrupted once, if its method has not returned. After the method has returned a
 * future, the future is cancelled once. The end of a cancelled future does not show that the work has ended. So the
 * claim is not released, and ends with its lease.
 * </ul>
 *
 * <p>Not guaranteed: if the process dies before the completion is recorded, the effects may happen again. The next
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
     * @param cancellations runs the cancellation of a handler's future, which may call the application's code; must not
     *     run it on the caller's thread
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
     * @return completes when each key is acquired or refused, or when the call is not repeated any more; fails only
     *     after a crash
     */
    public CompletableFuture<Void> claim(List<Delivery> deliveries) {
        return claiming.claim(deliveries);
    }

    /**
     * Returns the deliveries that may be handled now, because they hold their keys and overtake no other delivery of
     * their group. Ends the other deliveries, and releases their claims.
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

    /**
     * Returns the deliveries that pass a check, which checks them in their order. The other deliveries leave the
     * pipeline, and their claims are released.
     */
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
     * Handles deliveries of one subscription. Their keys are held, or are claimed in the handler's transaction. The
     * outcome is recorded after the handler, and {@link Delivery#processed()} completes when it is recorded.
     *
     * @param deliveries in their order
     * @return the handler's result for a single delivery, and {@code null} for a batch. If the handler returned a
     *     future, returns a future that ends with the work. This future has the same result. If the work fails, the
     *     future fails, and this method throws nothing
     * @throws Throwable the handler's exception, or {@link io.exactlyonce.ClaimLostException} if a claim was lost
     *     before the handler was called. Further failures are suppressed in the exception
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
     * Admits deliveries, starts the listener's timeout, and reconciles keys in doubt. The timeout covers the reconciler
     * and the handler.
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

    /** Returns the handler that claims the keys of these deliveries within its transactions. */
    public TransactionalHandler transactions(List<Delivery> deliveries) {
        return new TransactionalHandler(claims, claiming, recording, observer, clock, deliveries);
    }

    /** Releases the claims of the deliveries whose handler was not called. */
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
