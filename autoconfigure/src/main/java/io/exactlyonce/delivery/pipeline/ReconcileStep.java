package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.OutcomePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a listener's reconciler about the keys that are in doubt, each in a run of its own, so that what stops another
 * delivery meanwhile keeps that one from the handler only.
 */
final class ReconcileStep {

    private static final Logger log = LoggerFactory.getLogger(ReconcileStep.class);

    private final Batch batch;
    private final ClaimWriter writer;

    ReconcileStep(Batch batch, ClaimWriter writer) {
        this.batch = batch;
        this.writer = writer;
    }

    /** Returns those that the handler is to be called for, if they are admitted again: this may have taken long. */
    List<Attempt> reconcile(List<Attempt> admitted) {
        GroupOrder order = new GroupOrder(batch);
        List<Attempt> ready = new ArrayList<>();
        for (Attempt attempt : admitted) {
            if (order.admits(attempt)) {
                Reconciler reconciler = attempt.spec().doubt().reconciler();
                if (reconciler == null || !attempt.isToBeReconciled() || isToBeRun(attempt, reconciler, order)) {
                    ready.add(attempt);
                }
            }
        }
        order.giveBack(writer);
        return ready;
    }

    private boolean isToBeRun(Attempt attempt, Reconciler reconciler, GroupOrder order) {
        if (!order.enters(attempt)) {
            return false;
        }
        ClaimKey key = attempt.spec().key();
        HandlerRun run = attempt.delivery().enterHandler(new HandlerRun());
        Reconciliation answer;
        try (run) {
            answer = reconciler.reconcile(attempt.delivery().subscription().listener(), key.scope(), attempt.claim());
            Objects.requireNonNull(answer, "The reconciler answered null");
        } catch (Throwable thrown) {
            ReconciliationFailure failure = new ReconciliationFailure(thrown);
            batch.addFailure(failure);
            return fail(attempt, failure, run, order);
        }
        log.info(
                "{}, attempt {}: the reconciler answered {}",
                key,
                attempt.claim().attempt(),
                answer.getClass().getSimpleName());
        return answer.match(
                done -> {
                    attempt.delivery().leaveHandler();
                    attempt.done(done.result());
                    batch.done().add(attempt);
                    return false;
                },
                runAgain -> true,
                park -> {
                    OutcomePolicy.parked(attempt.delivery(), key);
                    return fail(attempt, new ParkRequest(park.reason()), run, order);
                });
    }

    private boolean fail(Attempt attempt, Throwable failure, HandlerRun run, GroupOrder order) {
        attempt.delivery().leaveHandler();
        attempt.fail(failure, run.wasStopped());
        batch.failed().add(attempt);
        order.stopGroupOf(attempt);
        return false;
    }

    /** The reconciler leaves the key to a person. */
    @SuppressWarnings("serial")
    static final class ParkRequest extends RuntimeException {
        ParkRequest(String reason) {
            super(reason, null, false, false);
        }
    }

    /** Carries what the reconciler threw past the code that looks at what the handler throws. */
    static final class ReconciliationFailure extends RuntimeException {
        ReconciliationFailure(Throwable cause) {
            super("The reconciler failed: " + cause, cause);
        }
    }
}
