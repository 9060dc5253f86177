package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.BatchKeeper;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.ResultWriter;
import io.exactlyonce.delivery.RetryBackoff;
import java.util.concurrent.CancellationException;
import io.exactlyonce.time.Jitter;
import java.util.Objects;
import java.util.function.Function;
import io.exactlyonce.time.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Takes a delivery through claim, handler and completion, and decides what becomes of it.
 *
 * <p>Guaranteed: the handler is called only under a claim of the delivery's key; the delivery is acknowledged only after
 * the claim's completion is recorded, by this delivery or an earlier one.
 *
 * <p>Not guaranteed: that the effects of a handler whose process dies before its completion is recorded happen only
 * once; the next attempt is told by {@link Claim#isAmbiguous()}.
 */
public final class DeliveryProcessor {

    private final ClaimWriter keeper;
    private final ClaimSettings terms;
    private final Function<Delivery, Disposition> retry;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final HandlerCall handlers;
    private final OutcomePolicy refusals;
    private final TransactionalDelivery transactional;
    private final BatchProcessor batches;

    /** A listener's own work under a claim. */
    @FunctionalInterface
    public interface Handler {
        /** Does the work; returns its result. */
        @Nullable Object handle(Claim claim) throws Throwable;

        /** Reads the result of an earlier attempt, which was stored as JSON; returns what a duplicate is answered with. */
        default @Nullable Object replay(String json) {
            return null;
        }
    }

    /**
     * @param store keeps the claims
     * @param terms on which keys are claimed
     * @param backoff how long deliveries stay away that failed
     * @param results writes handlers' results
     * @param observer learns of claims and handlers
     * @param clock monotonic, in nanoseconds
     * @param random from 0 inclusive to 1 exclusive
     */
    public DeliveryProcessor(
            ClaimStore store,
            ClaimSettings terms,
            RetryBackoff backoff,
            ResultWriter results,
            DeliveryObserver observer,
            NanoClock clock,
            Jitter random) {
        this.keeper = new ClaimWriter(store);
        this.terms = terms;
        this.retry = delivery -> new Disposition.Return(backoff.after(delivery.receiveCount(), random.next()));
        this.observer = observer;
        this.clock = clock;
        this.handlers = new HandlerCall(keeper, results, observer, clock);
        this.refusals = new OutcomePolicy(terms);
        this.transactional = new TransactionalDelivery(keeper, terms, handlers, refusals, observer);
        BatchKeeper batchKeeper = new BatchKeeper(store);
        this.batches = new BatchProcessor(
                new BatchClaims(batchKeeper, terms, refusals, observer, clock), batchKeeper, retry, observer, clock);
    }

    /** Returns what handles deliveries in batches, on the same terms. */
    public BatchProcessor batches() {
        return batches;
    }

    /**
     * Handles a delivery, unless its key is completed, held elsewhere or parked, or the store does not answer.
     *
     * @return the handler's result; for a duplicate what the handler replays of it; {@code null} otherwise
     * @throws io.exactlyonce.ClaimLostException if the claim was lost before or while the handler ran; a result is
     *     discarded
     * @throws Throwable what the handler threw
     */
    public @Nullable Object process(Delivery delivery, ClaimSpec handling, Handler handler) throws Throwable {
        enter(delivery);
        try {
            return handling.transaction() == null
                    ? claimAndHandle(delivery, handling, handler, handlers)
                    : handleInTransaction(delivery, handling, handling.transaction(), handler);
        } finally {
            delivery.leave();
        }
    }

    static void enter(Delivery delivery) {
        if (!delivery.enter()) {
            throw new CancellationException("%s was not begun: its listener has stopped".formatted(delivery));
        }
    }

    HandlerCall handlers() {
        return handlers;
    }

    private @Nullable Object handleInTransaction(
            Delivery delivery, ClaimSpec handling, ClaimTransaction transaction, Handler handler) throws Throwable {
        decideReturn(delivery);
        return transactional.handle(delivery, handling, transaction, handler);
    }

    /** Whatever is thrown from here on, the message must come again. */
    private void decideReturn(Delivery delivery) {
        delivery.decide(retry.apply(delivery));
    }

    @Nullable Object claimAndHandle(Delivery delivery, ClaimSpec handling, Handler handler, HandlerCalls calls) throws Throwable {
        decideReturn(delivery);
        ClaimRequest request = terms.request(handling, delivery.subscription().window());
        long begun = clock.nanoTime();
        ClaimOutcome outcome = claim(delivery, request);
        if (outcome == null) {
            return null;
        }
        delivery.decide(refusals.decide(delivery, request, outcome, Objects.requireNonNull(delivery.disposition())));
        if (!(outcome instanceof Acquired acquired)) {
            observer.claimed(delivery.subscription(), outcome);
            return replay(outcome, handler);
        }
        delivery.step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        delivery.renewal().hold(request.id(), request.lease(), begun, delivery::stopHandler);
        tell(delivery, request, outcome);
        return reconcileAndHandle(delivery, handling, request.id(), acquired, handler, calls);
    }

    /** The claim is held by now, and let go whatever is thrown here. */
    private void tell(Delivery delivery, ClaimRequest request, ClaimOutcome outcome) {
        try {
            observer.claimed(delivery.subscription(), outcome);
        } catch (Throwable failure) {
            handlers.giveBack(delivery, request.id());
            throw failure;
        }
    }

    private static @Nullable Object reconcileAndHandle(
            Delivery delivery, ClaimSpec handling, ClaimId id, Acquired acquired, Handler handler, HandlerCalls calls)
            throws Throwable {
        Handler reconciled = ReconcilingHandler.around(
                handler, handling, delivery.subscription().listener(), delivery::isReadyForHandler);
        try {
            return calls.call(delivery, id, acquired, handling.doubt(), reconciled);
        } catch (ReconcilingHandler.ParkRequest park) {
            OutcomePolicy.parked(delivery, id.key());
            return null;
        } catch (ReconcilingHandler.NotCalled notCalled) {
            delivery.withdrawHandler();
            throw notCalled.loss();
        }
    }

    static @Nullable Object replay(ClaimOutcome outcome, Handler handler) {
        return outcome instanceof AlreadyCompleted completed && completed.result() != null
                ? handler.replay(completed.result())
                : null;
    }

    /** Returns nothing if the store did not answer: that is no failure of the message, which waits until it does. */
    private @Nullable ClaimOutcome claim(Delivery delivery, ClaimRequest request) {
        try {
            return keeper.claim(request);
        } catch (IllegalArgumentException refused) {
            throw refused;
        } catch (RuntimeException unanswered) {
            delivery.decide(OutcomePolicy.unanswered(delivery, request, unanswered));
            return null;
        }
    }
}
