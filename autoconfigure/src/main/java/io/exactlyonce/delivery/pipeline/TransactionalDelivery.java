package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.delivery.waiting.GuardedClaimTransaction;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Handles deliveries in one transaction with their claim and its completion. A handler is tried once: after a failure, also
 * one of the commit, the message comes again and finds out what became of it.
 *
 * <p>A claim without an answer is repeated where waiting elsewhere would cost the message its chances: while handlers of
 * other deliveries keep connections, which they will give back, and on the last receive before the dead-letter queue.
 */
final class TransactionalDelivery {

    private static final Logger log = LoggerFactory.getLogger(TransactionalDelivery.class);

    private final ClaimWriter keeper;
    private final ClaimSettings terms;
    private final HandlerCall handlers;
    private final OutcomePolicy refusals;
    private final DeliveryObserver observer;

    TransactionalDelivery(
            ClaimWriter keeper,
            ClaimSettings terms,
            HandlerCall handlers,
            OutcomePolicy refusals,
            DeliveryObserver observer) {
        this.keeper = keeper;
        this.terms = terms;
        this.handlers = handlers;
        this.refusals = refusals;
        this.observer = observer;
    }

    /**
     * Returns the handler's result; for a duplicate what the handler replays of it.
     *
     * @throws Throwable what the handler threw, or why its transaction could not be committed
     */
    @Nullable Object handle(
            Delivery delivery, ClaimSpec handling, ClaimTransaction transaction, DeliveryProcessor.Handler handler)
            throws Throwable {
        ClaimRequest request = terms.request(handling, delivery.subscription().window());
        TransactionalWork work = new TransactionalWork(delivery, request.id(), handler, handlers, observer);
        ClaimOutcome outcome = execute(delivery, handling, request, transaction, work);
        if (outcome == null) {
            return null;
        }
        if (!(outcome instanceof Acquired)) {
            delivery.decide(refusals.decide(
                    delivery, request, outcome, Objects.requireNonNull(delivery.disposition())));
            observer.claimed(delivery.subscription(), outcome);
            return DeliveryProcessor.replay(outcome, handler);
        }
        delivery.step(DeliveryState.HANDLING, DeliveryState.HANDLED);
        delivery.step(DeliveryState.HANDLED, DeliveryState.RECORDED);
        return work.result();
    }

    /** Returns nothing if the database did not answer before the handler was called: the message waits until it does. */
    private @Nullable ClaimOutcome execute(
            Delivery delivery,
            ClaimSpec handling,
            ClaimRequest request,
            ClaimTransaction transaction,
            TransactionalWork work)
            throws Throwable {
        BackOffExecution pauses = ClaimWriter.endlessPauses().start();
        do {
            ClaimOutcome outcome = executeOnce(handling, request, transaction, work);
            if (outcome != null) {
                return outcome;
            }
        } while (isToBeRepeated(delivery, request, transaction) && StoreCalls.slept(pauses.nextBackOff()));
        log.warn("{} waits: the claim of {} got no answer through {}", delivery, request.key(), transaction);
        delivery.decide(new Disposition.AwaitStore(request));
        return null;
    }

    private static boolean isToBeRepeated(Delivery delivery, ClaimRequest request, ClaimTransaction transaction) {
        boolean isBusy = transaction instanceof GuardedClaimTransaction guarded
                && guarded.gate().isBusy();
        boolean isRepeated = (isBusy || delivery.isOnItsLastReceive())
                && delivery.mayHandlerBegin()
                && delivery.renewal().isInvisible();
        if (isRepeated) {
            log.warn("Claiming {} through {} failed; trying again", request.key(), transaction);
        }
        return isRepeated;
    }

    private @Nullable ClaimOutcome executeOnce(
            ClaimSpec handling, ClaimRequest request, ClaimTransaction transaction, TransactionalWork work)
            throws Throwable {
        try {
            return transaction.execute(request, work);
        } catch (ClaimStoreUnavailableException unanswered) {
            if (work.isBegun()) {
                work.failed();
                throw unanswered;
            }
            log.debug("The claim of {} got no answer", request.key(), unanswered);
            return null;
        } catch (Throwable failure) {
            work.failed();
            if (work.hasFailedByItself() && handling.doubt().parksFor(failure)) {
                park(request, failure);
            }
            throw failure;
        }
    }

    /** The transaction has left nothing behind, so the key is claimed once more, only to be set aside. */
    private void park(ClaimRequest request, Throwable failure) {
        try {
            ClaimOutcome outcome = keeper.claim(request);
            if (outcome instanceof Acquired) {
                keeper.park(new Parking(request.id(), failure.toString(), false));
            } else {
                log.warn(
                        "{} is not parked: another delivery was faster ({})",
                        request.key(),
                        outcome.getClass().getSimpleName());
            }
        } catch (RuntimeException unanswered) {
            log.error("Parking {} failed; its handler will be called again", request.key(), unanswered);
        }
    }
}
