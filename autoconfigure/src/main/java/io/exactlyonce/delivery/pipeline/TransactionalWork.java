package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.HandlerRun;
import org.jspecify.annotations.Nullable;

/**
 * One delivery's handler, called within the transaction that claims and completes its key. There is no lease to lose, so
 * only the end of its listener stops it.
 */
final class TransactionalWork implements ClaimTransaction.Work {

    private final Delivery delivery;
    private final ClaimId id;
    private final DeliveryProcessor.Handler handler;
    private final HandlerCall handlers;
    private final DeliveryObserver observer;
    private @Nullable Object result;
    private boolean begun;
    private @Nullable HandlerRun run;

    TransactionalWork(
            Delivery delivery,
            ClaimId id,
            DeliveryProcessor.Handler handler,
            HandlerCall handlers,
            DeliveryObserver observer) {
        this.delivery = delivery;
        this.id = id;
        this.handler = handler;
        this.handlers = handlers;
        this.observer = observer;
    }

    @Override
    public @Nullable String run(Acquired acquired) throws Throwable {
        begun = true;
        delivery.step(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        observer.claimed(delivery.subscription(), acquired);
        if (!delivery.mayHandlerBegin()) {
            throw handlers.claim(id, acquired, () -> false)
                    .lost("its listener had stopped before the handler was called");
        }
        HandlerRun called = delivery.enterHandler();
        run = called;
        LeasedClaim claim = handlers.claim(id, acquired, () -> called.isInside() && !called.wasInterrupted());
        result = handlers.handle(delivery, claim, called, handler);
        return handlers.json(id, result);
    }

    /** The transaction has left nothing behind. */
    void failed() {
        if (!delivery.step(DeliveryState.CLAIMED, DeliveryState.FAILED)) {
            delivery.step(DeliveryState.HANDLING, DeliveryState.FAILED);
        }
    }

    /** Tells whether the handler itself failed: it was called, and nobody stopped it from outside. */
    boolean hasFailedByItself() {
        HandlerRun called = run;
        return called != null && !called.wasInterrupted();
    }

    /** Tells whether the key was acquired, so that it is the handler's turn. */
    boolean isBegun() {
        return begun;
    }

    /** Returns what the handler returned, if it was called. */
    @Nullable Object result() {
        return result;
    }
}
