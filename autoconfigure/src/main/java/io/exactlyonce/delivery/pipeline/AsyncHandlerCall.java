package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.FutureRun;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.InDoubtPolicy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a handler whose method returns before its work is done. The claim is held until the handler's future has ended;
 * only then is recorded how that went, on a thread that may block.
 */
final class AsyncHandlerCall implements HandlerCalls {

    private static final Logger log = LoggerFactory.getLogger(AsyncHandlerCall.class);

    private final HandlerCall steps;
    private final Executor completions;
    private final Executor cancellations;

    AsyncHandlerCall(HandlerCall steps, Executor completions, Executor cancellations) {
        this.steps = steps;
        this.completions = completions;
        this.cancellations = cancellations;
    }

    /**
     * Returns a future that ends after the handler's own, when its outcome is on record as far as that was possible and
     * the delivery has been left.
     */
    @Override
    public CompletableFuture<@Nullable Object> call(
            Delivery delivery, ClaimId id, Acquired acquired, InDoubtPolicy doubt, DeliveryProcessor.Handler handler)
            throws Throwable {
        LeasedClaim claim = steps.claim(delivery, id, acquired);
        long begun = steps.now();
        HandlerRun run = delivery.enterHandler();
        FutureRun future;
        try {
            future = begin(claim, run, handler);
        } catch (Throwable failure) {
            try {
                steps.handled(delivery, begun);
            } finally {
                steps.fail(delivery, new FailedAttempt(id, failure, run.wasInterrupted()), doubt);
            }
            throw failure;
        }
        delivery.goOn(future);
        Outcome outcome = new Outcome(delivery, id, claim, doubt, future);
        future.whenEnded((result, failure) -> end(outcome, begun, result, failure));
        return outcome.recorded;
    }

    /** No timeout counts while the outcome waits for a thread; but work that may go on is renewed no more. */
    private void end(Outcome outcome, long begun, @Nullable Object result, @Nullable Throwable failure) {
        if (!outcome.mayGoOn(failure)) {
            outcome.delivery.leaveHandler();
        }
        try {
            steps.handled(outcome.delivery, begun);
        } finally {
            record(outcome, result, failure);
        }
    }

    private FutureRun begin(LeasedClaim claim, HandlerRun run, DeliveryProcessor.Handler handler) throws Throwable {
        try (run) {
            return new FutureRun(handler.handle(claim), cancellations);
        }
    }

    private void record(Outcome outcome, @Nullable Object result, @Nullable Throwable failure) {
        try {
            completions.execute(() -> outcome.record(result, failure));
        } catch (RejectedExecutionException stopped) {
            outcome.leaveToLease(stopped);
        }
    }

    /** What is to be recorded of one handler. */
    private final class Outcome {
        private final Delivery delivery;
        private final ClaimId id;
        private final LeasedClaim claim;
        private final InDoubtPolicy doubt;
        private final FutureRun future;
        private final CompletableFuture<@Nullable Object> recorded = new CompletableFuture<>();

        Outcome(Delivery delivery, ClaimId id, LeasedClaim claim, InDoubtPolicy doubt, FutureRun future) {
            this.delivery = delivery;
            this.id = id;
            this.claim = claim;
            this.doubt = doubt;
            this.future = future;
        }

        void record(@Nullable Object result, @Nullable Throwable failure) {
            try {
                if (failure == null) {
                    steps.complete(delivery, id, claim, result);
                } else {
                    fail(failure);
                }
                end(result, failure);
            } catch (Throwable unrecorded) {
                end(null, unrecorded);
            }
        }

        boolean mayGoOn(@Nullable Throwable failure) {
            return failure != null && future.mayGoOn(failure);
        }

        private void fail(Throwable failure) {
            if (mayGoOn(failure)) {
                log.warn(
                        "{}: its handler's future was cancelled, which does not tell whether its work has stopped; {}"
                                + " can be claimed again when its lease ends",
                        delivery,
                        id.key());
                delivery.step(DeliveryState.HANDLING, DeliveryState.FAILED);
                delivery.renewal().letGo();
            } else {
                steps.fail(delivery, new FailedAttempt(id, failure, future.wasCancelled()), doubt);
            }
        }

        /** The application has stopped. The effect may have happened, and that cannot be recorded any more. */
        void leaveToLease(RejectedExecutionException stopped) {
            log.warn("{}: its handler ended after the application had stopped; nothing is recorded of it", delivery);
            delivery.step(DeliveryState.HANDLING, DeliveryState.HANDLED);
            delivery.renewal().letGo();
            end(null, stopped);
        }

        private void end(@Nullable Object result, @Nullable Throwable failure) {
            delivery.leave();
            if (failure == null) {
                recorded.complete(result);
            } else {
                recorded.completeExceptionally(failure);
            }
        }
    }
}
