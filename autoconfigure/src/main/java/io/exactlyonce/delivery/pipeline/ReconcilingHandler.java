package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a listener's reconciler, if the key is in doubt, before it calls the handler. The reconciler may outlast the claim,
 * and may not heed the interrupt that tells it so: after it the handler is called only if it may still begin.
 */
final class ReconcilingHandler implements DeliveryProcessor.Handler {

    private static final Logger log = LoggerFactory.getLogger(ReconcilingHandler.class);

    private final Reconciler reconciler;
    private final String listener;
    private final ClaimKey key;
    private final DeliveryProcessor.Handler handler;
    private final BooleanSupplier ready;

    private ReconcilingHandler(
            Reconciler reconciler,
            String listener,
            ClaimKey key,
            DeliveryProcessor.Handler handler,
            BooleanSupplier ready) {
        this.reconciler = reconciler;
        this.listener = listener;
        this.key = key;
        this.handler = handler;
        this.ready = ready;
    }

    /**
     * Puts the listener's reconciler before its handler, if it has one.
     *
     * @param ready whether the handler may still begin once the reconciler has answered
     */
    static DeliveryProcessor.Handler around(
            DeliveryProcessor.Handler handler, ClaimSpec handling, String listener, BooleanSupplier ready) {
        Reconciler reconciler = handling.doubt().reconciler();
        return reconciler == null
                ? handler
                : new ReconcilingHandler(reconciler, listener, handling.key(), handler, ready);
    }

    @Override
    public @Nullable Object handle(Claim claim) throws Throwable {
        return claim.isAmbiguous() ? reconcile(claim) : handler.handle(claim);
    }

    private @Nullable Object reconcile(Claim claim) throws Throwable {
        Next next = ask(claim).<Next>match(done -> done::result, runAgain -> () -> callHandler(claim), park -> () -> {
            throw new ParkRequest(park.reason());
        });
        return next.go();
    }

    private @Nullable Object callHandler(Claim claim) throws Throwable {
        if (!ready.getAsBoolean()) {
            throw new NotCalled(new ClaimLostException(
                    key.scope(),
                    key.hash(),
                    claim.fencingToken(),
                    "its lease was over, its time was up, or its listener had stopped, when the reconciler had answered;"
                            + " the handler was not called"));
        }
        return handler.handle(claim);
    }

    private Reconciliation ask(Claim claim) {
        Reconciliation answer;
        try {
            answer = reconciler.reconcile(listener, key.scope(), claim);
        } catch (Throwable failure) {
            throw new ReconciliationFailure(failure);
        }
        if (answer == null) {
            throw new ReconciliationFailure(new NullPointerException("The reconciler answered null"));
        }
        log.info(
                "{}, attempt {}: the reconciler answered {}",
                key,
                claim.attempt(),
                answer.getClass().getSimpleName());
        return answer;
    }

    /** What follows from the answer. */
    @FunctionalInterface
    private interface Next {
        @Nullable Object go() throws Throwable;
    }

    /** The reconciler leaves the key to a person. */
    @SuppressWarnings("serial")
    static final class ParkRequest extends RuntimeException {
        ParkRequest(String reason) {
            super(reason, null, false, false);
        }
    }

    /** The reconciler asked for the handler, which must not begin any more. */
    static final class NotCalled extends RuntimeException {
        private final ClaimLostException loss;

        NotCalled(ClaimLostException loss) {
            super(loss);
            this.loss = loss;
        }

        /** Returns why it must not. */
        ClaimLostException loss() {
            return loss;
        }
    }

    /** Carries what the reconciler threw past those who look at what the handler throws. */
    static final class ReconciliationFailure extends RuntimeException {
        ReconciliationFailure(Throwable cause) {
            super("The reconciler failed: " + cause, cause);
        }
    }
}
