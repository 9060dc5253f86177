package io.exactlyonce.operations;

import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ExactlyOnceOperations.Action;
import io.exactlyonce.KeyReusedException;
import io.exactlyonce.ParkedException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.HandlerRun;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.FailedAttempt;
import io.exactlyonce.delivery.pipeline.LeasedClaim;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.renewal.RenewedLease;
import io.exactlyonce.time.NanoClock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs actions under claims that no message stands behind. What {@link DeliveryPipeline} guarantees of handlers holds for
 * actions, too; only their completion is given up when the lease ends, since a caller waits for it.
 */
public final class ActionExecutor {

    /** A JSON text, which tells a result that is null from one that could not be kept. */
    private static final String NULL = "null";

    private final ClaimWriter keeper;
    private final ClaimSettings terms;
    private final RenewalSupervisor supervisor;
    private final StoredResults results;
    private final NanoClock clock;

    /**
     * @param keeper claims keys, and ends claims
     * @param terms on which keys are claimed
     * @param supervisor renews leases
     * @param results writes and reads results
     * @param clock monotonic, in nanoseconds
     */
    public ActionExecutor(
            ClaimWriter keeper,
            ClaimSettings terms,
            RenewalSupervisor supervisor,
            StoredResults results,
            NanoClock clock) {
        this.keeper = keeper;
        this.terms = terms;
        this.supervisor = supervisor;
        this.results = results;
        this.clock = clock;
    }

    <T, X extends Throwable> @Nullable T execute(ClaimSpec wanted, Class<T> type, Action<T, X> action) throws X {
        requireNoTransaction();
        ClaimKey key = wanted.key();
        ClaimRequest request = terms.request(wanted);
        long begun = clock.nanoTime();
        ClaimOutcome outcome = keeper.awaitClaim(List.of(request)).get(0);
        if (outcome instanceof Acquired acquired) {
            return run(request, wanted.doubt(), begun, acquired, action);
        }
        if (outcome instanceof AlreadyCompleted completed) {
            return results.read(key, completed.result(), type);
        }
        if (outcome instanceof HeldElsewhere held) {
            throw new ClaimHeldException(key.scope(), key.hash(), held.leaseRemaining());
        }
        throw outcome instanceof Mismatch
                ? new KeyReusedException(key.scope(), key.hash())
                : new ParkedException(key.scope(), key.hash());
    }

    /** What the action writes there would be committed, or rolled back, after its key is completed. */
    private static void requireNoTransaction() {
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalStateException(
                    "ExactlyOnceOperations.execute was called within a transaction, which may still be rolled back when the key"
                            + " is completed; call it outside, and begin the transaction in the action");
        }
    }

    private <T, X extends Throwable> @Nullable T run(
            ClaimRequest request, InDoubtPolicy doubt, long begun, Acquired acquired, Action<T, X> action) throws X {
        HandlerRun run = new HandlerRun();
        RenewedLease lease = supervisor.hold(request.id(), request.lease(), begun, run::stop);
        try {
            LeasedClaim claim =
                    new LeasedClaim(request.id(), acquired, lease::isHeld, () -> keeper.fence(request.id()));
            T result = act(request.id(), doubt, claim, lease, run, action);
            complete(request, claim, lease, result);
            return result;
        } finally {
            lease.letGo();
        }
    }

    private <T, X extends Throwable> @Nullable T act(
            ClaimId id, InDoubtPolicy doubt, LeasedClaim claim, RenewedLease lease, HandlerRun run, Action<T, X> action)
            throws X {
        boolean called = false;
        try (run) {
            claim.ensureHeld();
            called = true;
            return action.run(claim);
        } catch (Throwable failure) {
            lease.letGo();
            if (called) {
                new FailedAttempt(id, failure, run.wasStopped()).settle(keeper, doubt);
            } else {
                ClaimWriter.await(
                        keeper.release(List.of(new ClaimEnd.Released(id, "the action was not called", false))));
            }
            throw failure;
        }
    }

    private void complete(ClaimRequest request, LeasedClaim claim, RenewedLease lease, @Nullable Object result) {
        lease.completing();
        String json = result == null ? NULL : results.writeIfPossible(request.key(), result);
        ClaimEnd.Completed completion = new ClaimEnd.Completed(request.id(), json);
        if (ClaimWriter.await(keeper.complete(List.of(completion), lease::isHeld))
                .isEmpty()) {
            throw claim.lost("another worker took the key over before the action ended; its result is discarded");
        }
    }
}
