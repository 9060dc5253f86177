package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.delivery.waiting.GuardedClaimTransaction;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Wraps a handler in the transaction that claims its key, runs it, and completes the key. It is tried once: after a
 * failure, also one of the commit, the message comes again and finds out what became of it. There is no lease to lose, so
 * only the end of its listener stops it.
 *
 * <p>A claim without an answer is repeated where waiting elsewhere would cost the message its chances: while handlers of
 * other deliveries keep connections, which they will give back, and on the last receive before the dead-letter queue.
 */
final class TransactionalHandler {

    private static final Logger log = LoggerFactory.getLogger(TransactionalHandler.class);

    private final ClaimWriter writer;
    private final ClaimStage claims;
    private final HandlerStage handlers;
    private final RecordStage records;
    private final DeliveryObserver observer;

    TransactionalHandler(
            ClaimWriter writer,
            ClaimStage claims,
            HandlerStage handlers,
            RecordStage records,
            DeliveryObserver observer) {
        this.writer = writer;
        this.claims = claims;
        this.handlers = handlers;
        this.records = records;
        this.observer = observer;
    }

    /** @throws Throwable what the handler threw, or why its transaction could not be committed */
    void handle(Attempt attempt, Handler handler) throws Throwable {
        claims.ask(attempt);
        Work work = new Work(attempt, handler);
        ClaimOutcome outcome = execute(attempt, work);
        if (outcome instanceof Acquired) {
            attempt.done(work.result);
            attempt.recorded();
        } else if (outcome != null) {
            claims.refuse(attempt, outcome);
            observer.claimed(attempt.delivery().subscription(), outcome);
        }
    }

    /** Returns nothing if the database did not answer before the handler was called: the message waits until it does. */
    private @Nullable ClaimOutcome execute(Attempt attempt, Work work) throws Throwable {
        ClaimTransaction transaction = Objects.requireNonNull(attempt.spec().transaction());
        BackOffExecution pauses = ClaimWriter.endlessPauses().start();
        while (true) {
            try {
                return executeOnce(attempt, transaction, work);
            } catch (Unanswered unanswered) {
                if (!isToBeRepeated(attempt, transaction) || !StoreCalls.slept(pauses.nextBackOff())) {
                    ClaimStage.await(attempt, unanswered.why);
                    return null;
                }
            }
        }
    }

    private static boolean isToBeRepeated(Attempt attempt, ClaimTransaction transaction) {
        Delivery delivery = attempt.delivery();
        boolean isBusy = transaction instanceof GuardedClaimTransaction guarded
                && guarded.breaker().isBusy();
        boolean isRepeated = LastReceive.isAtStake(delivery)
                || (isBusy && delivery.mayHandlerBegin() && delivery.renewal().isInvisible());
        if (isRepeated) {
            log.warn(
                    "Claiming {} through {} failed; trying again",
                    attempt.request().key(),
                    transaction);
        }
        return isRepeated;
    }

    private ClaimOutcome executeOnce(Attempt attempt, ClaimTransaction transaction, Work work) throws Throwable {
        try {
            return transaction.execute(attempt.request(), work);
        } catch (ClaimStoreUnavailableException unanswered) {
            if (!work.begun) {
                throw new Unanswered(unanswered);
            }
            attempt.hadNoEffect();
            throw unanswered;
        } catch (Throwable failure) {
            attempt.hadNoEffect();
            if (work.hasFailedByItself() && attempt.spec().doubt().parksFor(failure)) {
                park(attempt.request(), failure);
            }
            throw failure;
        }
    }

    /** The transaction has left nothing behind, so the key is claimed once more, only to be set aside. */
    private void park(ClaimRequest request, Throwable failure) {
        try {
            ClaimOutcome outcome = writer.claim(List.of(request)).get(0);
            if (outcome instanceof Acquired) {
                ClaimWriter.await(writer.park(List.of(new ClaimEnd.Parked(request.id(), failure.toString(), false))));
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

    /** The handler, called within the transaction. */
    private final class Work implements ClaimTransaction.Work {

        private final Attempt attempt;
        private final Handler handler;
        private @Nullable Object result;
        private @Nullable HandlerRun run;
        private boolean begun;

        Work(Attempt attempt, Handler handler) {
            this.attempt = attempt;
            this.handler = handler;
        }

        @Override
        public @Nullable String run(Acquired acquired) throws Throwable {
            begun = true;
            Delivery delivery = attempt.delivery();
            delivery.step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
            observer.claimed(delivery.subscription(), acquired);
            if (!delivery.mayHandlerBegin()) {
                throw new LeasedClaim(attempt.id(), acquired, () -> false, writer)
                        .lost("its listener had stopped before the handler was called");
            }
            HandlerRun called = delivery.enterHandler();
            run = called;
            LeasedClaim claim = new LeasedClaim(
                    attempt.id(), acquired, () -> called.isInside() && !called.wasInterrupted(), writer);
            result = handlers.callAlone(attempt, claim, called, handler);
            return records.json(attempt, result);
        }

        /** Returns whether the handler itself failed: it was called, and not stopped from outside. */
        boolean hasFailedByItself() {
            HandlerRun called = run;
            return called != null && !called.wasInterrupted();
        }
    }

    /** The claim got no answer, and the handler was not called. */
    @SuppressWarnings("serial")
    private static final class Unanswered extends Exception {
        private final RuntimeException why;

        Unanswered(RuntimeException why) {
            super(why);
            this.why = why;
        }
    }
}
