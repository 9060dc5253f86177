package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.ClaimScope;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.pipeline.HandlerStage.HandlerFailure;
import io.exactlyonce.delivery.waiting.GuardedClaimTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Wraps a handler in one transaction that claims the keys of all its deliveries, runs it, and completes them. After a
 * failure, also one of the commit, the messages come again and find out what became of it. There is no lease to lose, so
 * only the end of its listener stops it.
 *
 * <p>Nothing stays of a delivery that its handler names as failed: all is rolled back, and the rest is handled once more, in
 * another transaction, without it and without those that must not overtake it.
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

    /** Handles what can be handled. What went wrong is noted: what the handler threw, or why it could not be committed. */
    CompletableFuture<Void> handle(Batch batch, Handler handler) {
        List<Attempt> open =
                batch.attempts().stream().filter(Attempt::isToBeClaimed).toList();
        BackOffExecution pauses = ClaimWriter.endlessPauses();
        boolean mayRepeat = true;
        while (!open.isEmpty()) {
            Work work = new Work(batch, open, handler, mayRepeat);
            open = work.execute(pauses);
            mayRepeat &= !work.isRepeated;
        }
        return CompletableFuture.completedFuture(null);
    }

    /** The transactions have left nothing behind, so the key is claimed once more, only to be set aside. */
    private void park(Attempt attempt, Throwable failure) {
        ClaimRequest request = attempt.request();
        try {
            ClaimOutcome outcome = writer.awaitClaim(List.of(request)).get(0);
            if (outcome instanceof Acquired) {
                Set<ClaimId> parked = ClaimWriter.await(
                        writer.park(List.of(new ClaimEnd.Parked(request.id(), failure.toString(), false))));
                if (parked.contains(request.id())) {
                    observer.parked(attempt.delivery().subscription(), request.key());
                }
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

    /** One transaction's work: the handler, called with those of its deliveries whose keys are free. */
    private final class Work implements ClaimTransaction.BatchWork {

        private final Batch batch;
        private final List<Attempt> open;
        private final Handler handler;
        private final ClaimTransaction transaction;
        private final boolean mayRepeat;
        private final HandlerRun run = new HandlerRun();
        private List<Attempt> called = List.of();
        private @Nullable Object result;
        private boolean answered;
        private boolean isRepeated;
        private ClaimScope scope = ClaimScope.NONE;

        /** @param mayRepeat whether the handler may be called again if its connection is lost */
        Work(Batch batch, List<Attempt> open, Handler handler, boolean mayRepeat) {
            this.mayRepeat = mayRepeat;
            this.batch = batch;
            this.open = open;
            this.handler = handler;
            this.transaction = Objects.requireNonNull(open.get(0).spec().transaction());
        }

        /** Returns the deliveries that go through another transaction. */
        List<Attempt> execute(BackOffExecution pauses) {
            try {
                List<ClaimRequest> requests = open.stream().map(claims::ask).toList();
                scope = claims.begin(open);
                List<ClaimOutcome> outcomes = transaction.execute(requests, this);
                if (!answered) {
                    acquired(outcomes);
                }
                called.forEach(attempt -> attempt.done(result));
                called.forEach(Attempt::recorded);
                return List.of();
            } catch (LeftOut rolledBack) {
                return rolledBack.rest;
            } catch (HandlerFailure failure) {
                return failed(failure.thrown());
            } catch (ClaimStoreUnavailableException failure) {
                return answered ? lost(failure, pauses) : unanswered(failure, pauses);
            } catch (Exception failure) {
                if (!answered) {
                    scope.end(List.of(), failure);
                }
                return failed(failure);
            }
        }

        @Override
        public Map<ClaimId, String> run(List<ClaimOutcome> outcomes) throws LeftOut, HandlerFailure {
            List<Attempt> acquired = acquired(outcomes);
            List<Attempt> admitted = admit(acquired);
            if (admitted.size() < acquired.size()) {
                throw new LeftOut(admitted);
            }
            called = admitted;
            called.forEach(this::claimed);
            begin(called);
            called.forEach(attempt -> attempt.delivery().limitHandler());
            called.forEach(attempt -> attempt.delivery().enterHandler(run));
            result = handlers.callWithin(called, run, handler);
            String json = called.size() == 1 ? records.json(called.get(0), result) : null;
            return json == null ? Map.of() : Map.of(called.get(0).id(), json);
        }

        /** Decides on the deliveries that acquired nothing, whatever becomes of the transaction; returns the other ones. */
        private List<Attempt> acquired(List<ClaimOutcome> outcomes) {
            answered = true;
            scope.end(outcomes, null);
            List<Attempt> acquired = new ArrayList<>();
            for (int index = 0; index < open.size(); index++) {
                Attempt attempt = open.get(index);
                if (outcomes.get(index) instanceof Acquired claim) {
                    attempt.holdWithin(new LeasedClaim(
                            attempt.id(), claim, this::isHeld, () -> transaction.isWithin(attempt.id())));
                    acquired.add(attempt);
                } else {
                    claims.refuse(attempt, outcomes.get(index));
                    observer.claimed(
                            attempt.delivery().subscription(), attempt.id().key(), outcomes.get(index));
                }
            }
            return acquired;
        }

        private List<Attempt> admit(List<Attempt> acquired) {
            GroupOrder groups = new GroupOrder(batch);
            List<Attempt> admitted = new ArrayList<>();
            for (Attempt attempt : batch.attempts()) {
                if (!acquired.contains(attempt)) {
                    groups.stopGroupOf(attempt);
                } else if (groups.isStopped(attempt)) {
                    attempt.yieldToItsGroup();
                } else if (attempt.delivery().mayHandlerBegin()) {
                    admitted.add(attempt);
                } else {
                    claimed(attempt);
                    batch.addFailure(attempt.lost("its listener had stopped before the handler was called"));
                    attempt.hadNoEffect();
                    groups.stopGroupOf(attempt);
                }
            }
            return admitted;
        }

        /** @throws LeftOut if the stop of their listener has been faster with some of them */
        private static void begin(List<Attempt> called) throws LeftOut {
            List<Attempt> begun = called.stream()
                    .filter(attempt -> attempt.delivery().beginHandling())
                    .toList();
            if (begun.size() < called.size()) {
                begun.forEach(attempt -> attempt.delivery().step(DeliveryState.HANDLING, DeliveryState.CLAIMING));
                throw new LeftOut(begun);
            }
        }

        private void claimed(Attempt attempt) {
            attempt.delivery().step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
            observer.claimed(
                    attempt.delivery().subscription(),
                    attempt.id().key(),
                    attempt.claim().acquired());
        }

        private boolean isHeld() {
            return run.isInside() && !run.wasStopped();
        }

        /** The handler was not called. Where the database did not answer, the messages wait until it does. */
        private List<Attempt> unanswered(ClaimStoreUnavailableException why, BackOffExecution pauses) {
            scope.end(List.of(), why);
            if (isToBeRepeated() && writer.awaitPause(Duration.ofMillis(pauses.nextBackOff()))) {
                return open;
            }
            open.forEach(attempt -> ClaimStage.await(attempt, why));
            return List.of();
        }

        /**
         * The transaction lost its connection, and all that it wrote, unless its commit got through, which the next claim tells. The
         * messages wait for the database. Where one would not come again after that, the handler is called once more instead; a
         * second time its message fails, since the handler itself may break its connections.
         */
        private List<Attempt> lost(ClaimStoreUnavailableException why, BackOffExecution pauses) {
            if (why.getCause() instanceof LeftOut rolledBack) {
                return rolledBack.rest;
            }
            Throwable failure = why.getCause() instanceof HandlerFailure thrown ? thrown.thrown() : why;
            if (run.wasStopped()) {
                return failed(failure);
            }
            log.warn("{} lost the connection of its transaction; it is tried again when the database answers", called);
            called.forEach(attempt -> attempt.delivery().step(DeliveryState.HANDLING, DeliveryState.CLAIMING));
            isRepeated = mayRepeat && called.stream().anyMatch(Attempt::isAtStake);
            if (isRepeated && writer.awaitPause(Duration.ofMillis(pauses.nextBackOff()))) {
                return called;
            }
            batch.addHandlersFailure(failure);
            called.forEach(attempt -> ClaimStage.await(attempt, why));
            return List.of();
        }

        private boolean isToBeRepeated() {
            boolean isBusy = transaction instanceof GuardedClaimTransaction guarded
                    && guarded.breaker().isBusy();
            boolean isWanted =
                    open.stream().anyMatch(attempt -> attempt.isAtStake() || (isBusy && attempt.mayStillBeHandled()));
            if (isWanted) {
                log.warn(
                        "Claiming {} through {} failed; trying again",
                        open.stream().map(Attempt::id).map(ClaimId::key).toList(),
                        transaction);
            }
            return isWanted;
        }

        /** All is rolled back. Those that failed come again; returns the rest, which is handled without them. */
        private List<Attempt> failed(Throwable failure) {
            batch.addHandlersFailure(failure);
            boolean stopped = run.wasStopped();
            boolean mayPark = !stopped && !(failure instanceof ClaimStoreUnavailableException);
            Map<Integer, Throwable> named = stopped ? Map.of() : HandlerStage.named(failure, called.size());
            List<Attempt> rest = new ArrayList<>();
            for (int index = 0; index < called.size(); index++) {
                Attempt attempt = called.get(index);
                Throwable own = named.isEmpty() ? failure : named.get(index);
                if (own == null) {
                    attempt.delivery().step(DeliveryState.HANDLING, DeliveryState.CLAIMING);
                    rest.add(attempt);
                } else {
                    attempt.hadNoEffect();
                    if (mayPark && attempt.spec().doubt().parksFor(own)) {
                        park(attempt, own);
                    }
                }
            }
            return rest;
        }
    }

    /** Rolls back because some deliveries that hold their keys must not be handled now. */
    @SuppressWarnings("serial")
    private static final class LeftOut extends Exception {
        private final List<Attempt> rest;

        LeftOut(List<Attempt> rest) {
            super("Some deliveries must not be handled now", null, false, false);
            this.rest = rest;
        }
    }
}
