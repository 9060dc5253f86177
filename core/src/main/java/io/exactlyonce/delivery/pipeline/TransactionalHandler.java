package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.ClaimScope;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Handles deliveries in one transaction: claims their keys, calls the handler, and completes the claims. If the
 * transaction fails, even at its commit, the messages are redelivered. If only the answer to the commit was lost, the
 * redelivered messages find their keys completed. There is no lease, so only the listener's stop or timeout can stop
 * the handler.
 *
 * <p>Advice outside of the transaction (for example a retry) may call the handler again after a failure. Each call is a
 * new transaction for the deliveries that are not committed yet. Only the failures of the last call are recorded.
 *
 * <p>If the handler returns failures of single messages of a batch, the whole transaction is rolled back. A new
 * transaction handles the other messages, except those that would overtake a failed message of their FIFO group.
 *
 * <p>If the claims get no answer, they are repeated ({@link Repeats}) while the handler's thread waits. A transaction
 * that loses its connection is repeated once. After a second loss its messages fail, because the handler itself may be
 * the reason for the loss.
 */
public final class TransactionalHandler implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(TransactionalHandler.class);

    private final RetryingClaimClient claims;
    private final Claiming claiming;
    private final Recording recording;
    private final DeliveryObserver observer;
    private final NanoClock clock;
    private final List<Delivery> batch;
    private final BackOffExecution pauses = RetryingClaimClient.pauses();
    private final Map<Delivery, Failed> failures = new LinkedHashMap<>();
    private HandlerOutcome outcome = new HandlerOutcome();
    private @Nullable Repeats repeats;
    private boolean mayRepeat = true;
    private boolean isStarted;
    private boolean isRunning;
    private boolean isClosed;

    /**
     * The failure of a delivery's latest attempt.
     *
     * @param reasonToPark {@code null} if the key is not to be parked
     */
    private record Failed(Throwable failure, @Nullable String reasonToPark) {}

    TransactionalHandler(
            RetryingClaimClient claims,
            Claiming claiming,
            Recording recording,
            DeliveryObserver observer,
            NanoClock clock,
            List<Delivery> batch) {
        this.claims = claims;
        this.claiming = claiming;
        this.recording = recording;
        this.observer = observer;
        this.clock = clock;
        this.batch = batch;
    }

    /**
     * Handles the deliveries whose keys are free. Advice may call this method again. After a failure, the handler then
     * runs in a new transaction, unless the listener has stopped. After a success, the same result is returned again.
     *
     * @return the handler's result for a single delivery, and {@code null} for a batch
     * @throws Throwable the handler's exception, or {@link io.exactlyonce.ClaimLostException} if the listener stopped
     *     before the handler was called. Further failures are its suppressed exceptions
     */
    public @Nullable Object handle(Handler handler) throws Throwable {
        enter();
        try {
            List<Delivery> open = open();
            if (!open.isEmpty()) {
                outcome = new HandlerOutcome();
                failures.clear();
            }
            while (!open.isEmpty()) {
                open = new Work(open, handler).execute();
            }
            return outcome.resultOrThrow();
        } finally {
            leave();
        }
    }

    private synchronized void enter() {
        if (isClosed || isRunning) {
            throw new IllegalStateException(
                    "The handler of %s was called %s".formatted(batch, isClosed ? "after its end" : "twice at a time"));
        }
        isRunning = true;
    }

    private void leave() {
        synchronized (this) {
            isRunning = false;
            if (!isClosed) {
                return;
            }
        }
        end();
    }

    /**
     * Called when the advice has ended. Marks the failed deliveries, and parks keys that must not be tried again. If a
     * transaction still runs on another thread, does this when the transaction ends.
     */
    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
            if (isRunning) {
                return;
            }
        }
        end();
    }

    private void end() {
        failures.forEach((delivery, failed) -> {
            delivery.attempt().failed(failed.failure());
            delivery.markFailed();
            if (failed.reasonToPark() != null) {
                park(delivery, failed.reasonToPark());
            }
        });
        batch.forEach(Recording::endProcessing);
    }

    /**
     * Returns the deliveries that still need a transaction. Leaves out committed deliveries, and deliveries whose
     * message is to be returned or deleted.
     */
    private List<Delivery> open() {
        if (!isStarted) {
            Claiming.requireStarted(batch);
            isStarted = true;
            return claiming.beginProcessing(batch);
        }
        List<Delivery> open = new ArrayList<>(batch.size());
        for (Delivery delivery : batch) {
            DeliveryState state = delivery.state();
            if (delivery.attempt().isTransactional()
                    && delivery.disposition() == null
                    && (state == DeliveryState.HANDLING || state == DeliveryState.CLAIMING)) {
                open.add(delivery);
            }
        }
        for (Delivery delivery : open) {
            if (!delivery.mayHandlerBegin()) {
                return List.of();
            }
        }
        open.forEach(delivery -> delivery.transition(DeliveryState.HANDLING, DeliveryState.CLAIMING));
        return open;
    }

    /** Parks a key. The rollback has removed the claim, so the key is claimed once more before it is parked. */
    private void park(Delivery delivery, String reason) {
        ClaimRequest request = delivery.attempt().request();
        try {
            ClaimOutcome outcome = claims.awaitClaim(request);
            if (!(outcome instanceof Acquired)) {
                log.warn(
                        "{} is not parked: another delivery claimed the key first ({})",
                        request.key(),
                        outcome.getClass().getSimpleName());
            } else if (claims.awaitResolution(new ClaimResolution.Parked(request.id(), reason, false), () -> false)) {
                recording.parked(delivery);
            } else {
                log.warn("{} is not parked: another worker took the key over", request.key());
            }
        } catch (RuntimeException noAnswer) {
            log.error(
                    "Parking {} failed; its handler will be called again",
                    request.key(),
                    PrintableException.of(noAnswer));
        }
    }

    /** One transaction. Its handler gets the deliveries whose keys are free. */
    private final class Work implements ClaimTransaction.BatchWork {

        private final List<Delivery> open;
        private final Handler handler;
        private final ClaimTransaction transaction;
        private final Cancellation call = new Cancellation();
        private final ClaimScope scope;
        private List<Delivery> called = List.of();
        private boolean answered;
        private @Nullable End end;

        Work(List<Delivery> open, Handler handler) {
            this.open = open;
            this.handler = handler;
            this.transaction =
                    Objects.requireNonNull(open.get(0).attempt().spec().transaction());
            this.scope = observer.claiming(open);
        }

        /** Returns the deliveries that need another transaction. */
        List<Delivery> execute() {
            Exception failure = executeOnce();
            if (failure == null) {
                committed();
                return List.of();
            }
            if (!answered) {
                return failure instanceof ClaimStoreUnavailableException why ? unanswered(why) : refused(failure);
            }
            if (end instanceof LeftOver) {
                return called;
            }
            Throwable thrown = end instanceof HandlerFailed handlers ? handlers.thrown() : failure;
            return failure instanceof ClaimStoreUnavailableException why ? lost(thrown, why) : failed(thrown);
        }

        /** Returns why the transaction was rolled back; {@code null} if it was committed. */
        private @Nullable Exception executeOnce() {
            try {
                List<ClaimRequest> requests = new ArrayList<>(open.size());
                open.forEach(delivery -> requests.add(claiming.makeRequest(delivery)));
                List<ClaimOutcome> outcomes = transaction.execute(requests, this);
                if (!answered) {
                    acquired(outcomes);
                }
                return null;
            } catch (Exception failure) {
                return failure;
            }
        }

        private void committed() {
            Object result = end instanceof Succeeded succeeded ? succeeded.result() : null;
            for (Delivery delivery : called) {
                delivery.transition(DeliveryState.HANDLING, DeliveryState.HANDLED);
                delivery.transition(DeliveryState.HANDLED, DeliveryState.RECORDED);
                outcome.result(delivery.attempt().keepsResult() ? result : null);
            }
        }

        /**
         * Called if the database rejected the claims. The transaction is not repeated, because the database would
         * reject them again.
         */
        private List<Delivery> refused(Exception why) {
            endRepeats();
            scope.end(List.of(), why);
            open.forEach(delivery -> delivery.attempt().failed(why));
            outcome.addHandlers(why);
            return List.of();
        }

        @Override
        public Map<ClaimId, String> run(List<ClaimOutcome> outcomes) throws RolledBack {
            List<Delivery> acquired = acquired(outcomes);
            called = admit(acquired);
            if (called.size() == acquired.size()) {
                called.forEach(this::claimed);
                // The listener may have stopped since the last check.
                called = called.stream().filter(Delivery::beginHandling).toList();
            }
            if (called.size() < acquired.size()) {
                called.forEach(delivery -> delivery.transition(DeliveryState.HANDLING, DeliveryState.CLAIMING));
                end = new LeftOver();
                throw new RolledBack("Some deliveries must not be handled now");
            }
            called.forEach(delivery -> {
                delivery.visibility().startTimeout(delivery.attempt().key(), delivery::stopHandler);
                delivery.beginCall(call);
            });
            Object result = call();
            end = new Succeeded(result);
            String json = called.size() == 1 ? recording.json(called.get(0), result) : null;
            return json == null ? Map.of() : Map.of(called.get(0).attempt().id(), json);
        }

        private @Nullable Object call() throws RolledBack {
            ObservedCall observed = ObservedCall.begin(called, observer, clock);
            Throwable thrown = null;
            try (call) {
                Object returned = handler.handle(called);
                // Work that continues on another thread is a failure, because the transaction ends before that work.
                Throwable failed = call.refusal();
                if (failed == null) {
                    failed = HandlerCall.unfinished(called, returned);
                }
                if (failed == null) {
                    failed = HandlerCall.failedItems(called, returned);
                }
                if (failed != null) {
                    throw failed;
                }
                return returned;
            } catch (Throwable failure) {
                thrown = failure;
                end = new HandlerFailed(failure);
                throw new RolledBack("The handler failed");
            } finally {
                observed.leave();
                observed.end(thrown);
                called.forEach(delivery -> delivery.visibility().cancelTimeout());
            }
        }

        /**
         * Returns the deliveries whose keys were claimed. For each other delivery, decides what happens to its message.
         */
        private List<Delivery> acquired(List<ClaimOutcome> outcomes) {
            answered = true;
            open.get(0).subscription().gate().answered();
            endRepeats();
            scope.end(outcomes, null);
            List<Delivery> acquired = new ArrayList<>(open.size());
            for (int index = 0; index < open.size(); index++) {
                Delivery delivery = open.get(index);
                if (outcomes.get(index) instanceof Acquired claim) {
                    ClaimId id = delivery.attempt().id();
                    delivery.attempt()
                            .acquiredWithin(new HeldClaim(id, claim, this::isHeld, () -> transaction.isWithin(id)));
                    acquired.add(delivery);
                } else {
                    claiming.refuse(delivery, outcomes.get(index));
                    claiming.notifyClaimed(delivery, outcomes.get(index));
                }
            }
            return acquired;
        }

        private List<Delivery> admit(List<Delivery> acquired) {
            Admission groups = new Admission();
            List<Delivery> admitted = new ArrayList<>(acquired.size());
            for (Delivery delivery : batch) {
                if (!acquired.contains(delivery)) {
                    groups.stopGroupOf(delivery);
                } else if (groups.isStopped(delivery)) {
                    Admission.returnImmediately(delivery);
                } else if (delivery.mayHandlerBegin()) {
                    admitted.add(delivery);
                } else {
                    claimed(delivery);
                    outcome.add(
                            delivery.attempt().claim().lost("its listener had stopped before the handler was called"));
                    delivery.markFailed();
                    groups.stopGroupOf(delivery);
                }
            }
            return admitted;
        }

        private void claimed(Delivery delivery) {
            delivery.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
            claiming.notifyClaimed(delivery, delivery.attempt().claim().acquired());
        }

        private boolean isHeld() {
            return call.isInside() && !call.wasStopped();
        }

        /**
         * Called if the claims got no answer, so that the handler was not called. Returns the deliveries to claim
         * again.
         */
        private List<Delivery> unanswered(ClaimStoreUnavailableException why) {
            scope.end(List.of(), why);
            repeats = repeats == null ? new Repeats(open) : repeats;
            if (repeats.shouldRetry(why)) {
                log.warn(
                        "Claiming {} through {} failed; trying again: {}",
                        open,
                        open.get(0).subscription().gate(),
                        RetryingClaimClient.why(why));
                if (claims.pause(pauses)) {
                    return open;
                }
            }
            endRepeats();
            open.forEach(delivery -> claiming.unanswered(delivery, why));
            return List.of();
        }

        private void endRepeats() {
            if (repeats != null) {
                repeats.end();
                repeats = null;
            }
        }

        /**
         * Called if the transaction lost its connection. The commit may have succeeded. If so, the next transaction
         * finds the keys completed.
         */
        private List<Delivery> lost(Throwable failure, ClaimStoreUnavailableException why) {
            if (call.wasStopped() || !mayRepeat) {
                return failed(failure);
            }
            mayRepeat = false;
            log.warn("{} lost the connection of its transaction; it is tried again when the database answers", called);
            called.forEach(delivery -> delivery.transition(DeliveryState.HANDLING, DeliveryState.CLAIMING));
            if (claims.pause(pauses)) {
                return called;
            }
            outcome.addHandlers(failure);
            called.forEach(delivery -> claiming.unanswered(delivery, why));
            return List.of();
        }

        /**
         * Called after a rollback. Keeps the failures until {@link #close}. Returns the deliveries that have not
         * failed, because another transaction handles them.
         */
        private List<Delivery> failed(Throwable failure) {
            outcome.addHandlers(failure);
            boolean stopped = call.wasStopped();
            Map<Integer, Throwable> named =
                    stopped ? Map.of() : atFault(HandlerFailure.of(failure).ofItems());
            List<Delivery> rest = new ArrayList<>();
            for (int index = 0; index < called.size(); index++) {
                Delivery delivery = called.get(index);
                Throwable own = named.isEmpty() ? failure : named.get(index);
                if (own == null) {
                    delivery.transition(DeliveryState.HANDLING, DeliveryState.CLAIMING);
                    rest.add(delivery);
                } else {
                    failures.put(delivery, new Failed(own, stopped ? null : reasonToPark(delivery, own)));
                }
            }
            return rest;
        }

        /**
         * Returns why to park the key; {@code null} if the key is not to be parked.
         *
         * <p>The rollback has also undone the count of attempts in the claim table, so the number of receives is used
         * instead. If the handler was stopped, {@code maxAttempts} does not apply. If the database did not answer, or if a
         * call of the handler was refused, the key is not parked: the message is not at fault, so a later attempt may
         * succeed.
         */
        private @Nullable String reasonToPark(Delivery delivery, Throwable failure) {
            if (failure instanceof ClaimStoreUnavailableException || call.hasRefused()) {
                return null;
            }
            boolean wasStopped = (call.isStopRequested() && !call.hasWorked())
                    || HandlerFailure.of(failure)
                            .wasStopped(called.stream()
                                    .map(each -> each.attempt().id())
                                    .toList());
            return delivery.attempt().spec().doubt().reasonToPark(failure, wasStopped ? 0 : delivery.receiveCount());
        }

        /**
         * Leaves out failures that another item's failure has caused (for example because it aborted the transaction).
         * If no failure would be left, returns all.
         */
        private Map<Integer, Throwable> atFault(Map<Integer, Throwable> named) {
            Map<Integer, Throwable> own = new HashMap<>(named);
            own.values().removeIf(transaction::isAftermath);
            return own.isEmpty() ? named : own;
        }
    }

    /** The result of the work in a transaction, before the commit. */
    private sealed interface End {}

    private record Succeeded(@Nullable Object result) implements End {}

    private record HandlerFailed(Throwable thrown) implements End {}

    /**
     * The handler was not called, because some deliveries must not be handled now. The remaining deliveries need
     * another transaction.
     */
    private record LeftOver() implements End {}

    /** Thrown to roll the transaction back. {@link End} contains the reason. */
    private static final class RolledBack extends Exception {
        RolledBack(String why) {
            super(why, null, false, false);
        }
    }
}
