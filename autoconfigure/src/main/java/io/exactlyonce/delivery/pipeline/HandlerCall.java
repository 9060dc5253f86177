package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.Release;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.KeptResults;
import io.exactlyonce.delivery.ResultWriter;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import io.exactlyonce.time.NanoClock;
import org.jspecify.annotations.Nullable;

/** Calls a handler under its claim, and records how it went before anything else happens to the delivery. */
final class HandlerCall implements HandlerCalls {

    private final ClaimWriter keeper;
    private final KeptResults results;
    private final DeliveryObserver observer;
    private final NanoClock clock;

    HandlerCall(ClaimWriter keeper, ResultWriter results, DeliveryObserver observer, NanoClock clock) {
        this.keeper = keeper;
        this.results = new KeptResults(results);
        this.observer = observer;
        this.clock = clock;
    }

    @Override
    public @Nullable Object call(
            Delivery delivery, ClaimId id, Acquired acquired, InDoubtPolicy doubt, DeliveryProcessor.Handler handler)
            throws Throwable {
        LeasedClaim claim = claim(delivery, id, acquired);
        Object result = handleOrSettle(delivery, claim, id, doubt, handler);
        complete(delivery, id, claim, result);
        return result;
    }

    LeasedClaim claim(ClaimId id, Acquired acquired, BooleanSupplier held) {
        return new LeasedClaim(id, acquired, held, keeper::fence);
    }

    /** A pause, or a claim that was answered late, may have used up the lease before the handler could begin. */
    LeasedClaim claim(Delivery delivery, ClaimId id, Acquired acquired) {
        LeasedClaim claim = claim(id, acquired, delivery.renewal()::isHeld);
        if (!delivery.isReadyForHandler()) {
            giveBack(delivery, id);
            throw claim.lost("its lease was over, or its listener had stopped, before the handler was called");
        }
        return claim;
    }

    /** Gives a claim up whose handler was not called, without a doubt. */
    void giveBack(Delivery delivery, ClaimId id) {
        delivery.step(DeliveryState.CLAIMED, DeliveryState.FAILED);
        delivery.renewal().letGo();
        keeper.release(new Release(id, FailedAttempt.NOT_CALLED, false));
    }

    private @Nullable Object handleOrSettle(
            Delivery delivery, LeasedClaim claim, ClaimId id, InDoubtPolicy doubt, DeliveryProcessor.Handler handler)
            throws Throwable {
        HandlerRun run = delivery.enterHandler();
        try {
            return handle(delivery, claim, run, handler);
        } catch (Throwable failure) {
            fail(delivery, new FailedAttempt(id, failure, run.wasInterrupted()), doubt);
            throw failure;
        }
    }

    void fail(Delivery delivery, FailedAttempt attempt, InDoubtPolicy doubt) {
        delivery.step(DeliveryState.HANDLING, DeliveryState.FAILED);
        delivery.renewal().letGo();
        attempt.settle(keeper, doubt);
    }

    @Nullable Object handle(Delivery delivery, LeasedClaim claim, HandlerRun run, DeliveryProcessor.Handler handler)
            throws Throwable {
        long begun = now();
        try (run) {
            return handler.handle(claim);
        } finally {
            delivery.leaveHandler();
            handled(delivery, begun);
        }
    }

    void handled(Delivery delivery, long begun) {
        observer.handled(delivery.subscription(), Duration.ofNanos(clock.nanoTime() - begun));
    }

    long now() {
        return clock.nanoTime();
    }

    /**
     * Records the completion. It is tried also for a claim that seems lost: the store knows whether anybody has taken
     * the key over, and if nobody has, the effect is on record.
     */
    void complete(Delivery delivery, ClaimId id, LeasedClaim claim, @Nullable Object result) {
        delivery.step(DeliveryState.HANDLING, DeliveryState.HANDLED);
        delivery.renewal().completing();
        String json = json(id, result);
        try {
            if (!keeper.complete(id, json, () -> !delivery.isAbandoned())) {
                throw claim.lost("another worker took the key over before the handler ended; its result is discarded");
            }
        } finally {
            delivery.renewal().letGo();
        }
        delivery.step(DeliveryState.HANDLED, DeliveryState.RECORDED);
    }

    /** The effect has happened, so a result that cannot be written must not leave the claim open. */
    @Nullable String json(ClaimId id, @Nullable Object result) {
        return result == null ? null : results.json(id.key(), result);
    }
}
