package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.BatchResult;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.UnfinishedWork;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of a handler with deliveries whose keys are claimed. If the handler returns a future, the call lasts until
 * the future has completed. Then the outcome is sent to the store.
 */
final class HandlerCall {

    private static final Logger log = LoggerFactory.getLogger(HandlerCall.class);

    private final List<Delivery> called;
    private final ObservedCall observed;
    private final Recording recording;
    private final Executor cancellations;
    private final HandlerOutcome outcome;
    private final Cancellation call = new Cancellation();

    /**
     * @param called the deliveries that the handler gets
     * @param cancellations cancels the handler's future
     * @param outcome collects the handler's result and failures. Already contains the failures of deliveries that were
     *     not admitted
     */
    HandlerCall(
            List<Delivery> called,
            ObservedCall observed,
            Recording recording,
            Executor cancellations,
            HandlerOutcome outcome) {
        this.called = called;
        this.observed = observed;
        this.recording = recording;
        this.cancellations = cancellations;
        this.outcome = outcome;
    }

    /**
     * Calls the handler, and returns its result. If the handler returned a future, returns a future that completes
     * after the work has ended.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // The caller requested this future.
    @Nullable Object make(Handler handler) throws Throwable {
        called.forEach(delivery -> delivery.beginCall(call));
        Object returned;
        try (call) {
            returned = handler.handle(called);
        } catch (Throwable thrown) {
            observed.leave();
            ended(null, thrown);
            return outcome.resultOrThrow();
        }
        observed.leave();
        if (returned instanceof CompletionStage<?> stage) {
            return awaitFuture(stage);
        }
        ended(returned, null);
        return outcome.resultOrThrow();
    }

    private CompletableFuture<@Nullable Object> awaitFuture(CompletionStage<?> stage) {
        CompletableFuture<?> future;
        try {
            future = stage.toCompletableFuture();
        } catch (RuntimeException none) {
            // The stage cannot become a future, so nothing can detect the end of its work. The delivery is treated as
            // if its future had been cancelled.
            future = CompletableFuture.failedFuture(call.cancelled(none));
        }
        CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
        Boundary.whenComplete(
                "The end of a handler's future",
                call.continueWith(future, cancellations, this::ended),
                (done, crash) -> {
                    Throwable failure = crash == null ? outcome.failure() : crash;
                    if (crash != null) {
                        called.forEach(Delivery::endProcessing);
                    }
                    if (failure == null) {
                        answer.complete(outcome.result());
                    } else {
                        answer.completeExceptionally(failure);
                    }
                },
                answer::completeExceptionally);
        return answer;
    }

    /**
     * Called when the handler's work has ended, or when its future was cancelled. After a cancellation, the work may
     * continue.
     */
    private void ended(@Nullable Object result, @Nullable Throwable thrown) {
        Throwable refused = thrown == null ? call.refusal() : thrown;
        Throwable unfinished = refused == null ? unfinished(called, result) : null;
        Throwable failure = refused == null ? unfinished : refused;
        failure = failure == null ? failedItems(called, result) : failure;
        observed.end(failure);
        if (failure == null) {
            succeeded(result);
        } else if (call.mayStillRun(failure)) {
            leaveToLease(failure);
        } else {
            failed(failure, unfinished != null);
        }
        recording.record(called);
    }

    /**
     * Returns an exception if the handler's result means that its work may not have ended (for example a publisher).
     * The key is then in doubt. Returns {@code null} for all other results.
     */
    static @Nullable Throwable unfinished(List<Delivery> called, @Nullable Object result) {
        Class<?> type = UnfinishedWork.in(result);
        return type == null
                ? null
                : new IllegalStateException(
                        "The handler of listener '%s' returned %s, whose work may not have ended; return a CompletableFuture of the work, or return when the work is done"
                                .formatted(called.get(0).subscription().listener(), type.getName()));
    }

    /** Returns an exception if the handler's result names failed items, and else {@code null}. */
    static @Nullable Throwable failedItems(List<Delivery> called, @Nullable Object result) {
        return result instanceof BatchResult
                ? FailedItems.in(
                        result,
                        "The handler of listener '%s'"
                                .formatted(called.get(0).subscription().listener()),
                        called.size())
                : null;
    }

    private void succeeded(@Nullable Object result) {
        for (Delivery delivery : called) {
            delivery.attempt().resolve(recording.completion(delivery, result));
            outcome.result(delivery.attempt().keepsResult() ? result : null);
        }
    }

    private void leaveToLease(Throwable cancelled) {
        outcome.addHandlers(cancelled);
        for (Delivery delivery : called) {
            if (delivery.isUnprotected()) {
                log.warn(
                        "{}: its handler's future was cancelled, but its work may continue beside that of the next delivery",
                        delivery);
            } else {
                log.warn(
                        "{}: its handler's future was cancelled, but its work may continue; {} can be "
                                + "claimed again when its lease ends",
                        delivery,
                        delivery.attempt().key());
            }
            delivery.visibility().stopLeaseRenewal();
            delivery.markFailed();
        }
    }

    private void failed(Throwable thrown, boolean isUnfinished) {
        outcome.addHandlers(thrown);
        HandlerFailure whole = HandlerFailure.of(thrown);
        Map<Integer, Throwable> named = whole.ofItems();
        // One lost claim stops the handler for the whole batch. By then, the handler may have had effects for the other
        // claims. So all keys are in doubt.
        boolean wasStopped = isUnfinished
                || call.wasStopped()
                || (named.isEmpty()
                        && whole.wasStopped(called.stream()
                                .map(delivery -> delivery.attempt().id())
                                .toList()));
        for (int index = 0; index < called.size(); index++) {
            Delivery delivery = called.get(index);
            Throwable failure = named.isEmpty() ? thrown : named.get(index);
            if (failure != null) {
                delivery.attempt().failed(failure);
            }
            delivery.attempt().resolve(resolution(delivery, failure, wasStopped));
        }
    }

    private ClaimResolution resolution(Delivery delivery, @Nullable Throwable failure, boolean wasStopped) {
        if (failure == null) {
            return recording.completion(delivery, null);
        }
        HeldClaim claim = delivery.attempt().claim();
        InDoubtSettings doubt = delivery.attempt().spec().doubt();
        return call.hasWorked()
                ? FailedAttempt.resolution(claim, failure, wasStopped, doubt)
                : FailedAttempt.notCalled(claim, failure, call.isStopRequested(), doubt);
    }
}
