package io.exactlyonce.operations;

import io.exactlyonce.ClaimHeldException;
import io.exactlyonce.ExactlyOnceOperations.Action;
import io.exactlyonce.KeyReusedException;
import io.exactlyonce.ParkedException;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.FailedAttempt;
import io.exactlyonce.delivery.pipeline.RetryingClaimClient;
import io.exactlyonce.renewal.Lease;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.time.NanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.ParameterizedTypeReference;

/**
 * Runs the actions of {@code ExactlyOnceOperations}, each under a claim. Actions have the same guarantees as the
 * deliveries of {@link DeliveryPipeline}, with one difference. A completion is retried only until the lease ends,
 * because the caller waits for it.
 *
 * @param terms settings for claims
 * @param clock monotonic, in nanoseconds
 */
public record ActionExecutor(
        RetryingClaimClient claims, ClaimSettings terms, Renewer renewer, StoredResults results, NanoClock clock) {

    private static final Logger log = LoggerFactory.getLogger(ActionExecutor.class);

    <T, X extends Throwable> @Nullable T execute(
            ClaimSpec wanted, ParameterizedTypeReference<T> type, Action<? extends @Nullable T, X> action) throws X {
        requireNoTransaction();
        results.requireReadable(type.getType());
        ClaimKey key = wanted.key();
        ClaimRequest request = terms.request(wanted);
        long askedAt = clock.nanoTime();
        ClaimOutcome outcome = claim(request);
        if (outcome instanceof Acquired acquired) {
            return run(request, wanted.doubt(), askedAt, acquired, type, action);
        }
        if (outcome instanceof AlreadyCompleted completed) {
            return results.read(key, completed.result(), type);
        }
        if (outcome instanceof HeldElsewhere held) {
            throw new ClaimHeldException(key.scope(), key.keyHash(), held.leaseRemaining());
        }
        throw outcome instanceof Mismatch
                ? new KeyReusedException(key.scope(), key.keyHash())
                : new ParkedException(key.scope(), key.keyHash());
    }

    private ClaimOutcome claim(ClaimRequest request) {
        try {
            return claims.awaitClaim(request);
        } catch (IllegalArgumentException unstorable) {
            throw unstorable;
        } catch (ClaimStoreBusyException busy) {
            throw new ClaimStoreBusyException(
                    request.key(), "The claim store is busy, and the action was not called; call again", busy);
        } catch (RuntimeException unanswered) {
            throw new ClaimStoreUnavailableException(
                    request.key(),
                    "The claim store did not answer, and the action was not called; call again",
                    unanswered);
        }
    }

    /**
     * Rejects a call within a transaction of the caller. Otherwise the key would be completed before the transaction
     * ends. If the transaction were rolled back afterwards, the writes of the action would be lost, but the key would
     * stay completed.
     */
    private static void requireNoTransaction() {
        if (CommitListener.mayRollBack()) {
            throw new IllegalStateException(
                    "ExactlyOnceOperations.once(..) was called within a transaction, which may still be rolled back when the key"
                            + " is completed; call it outside, or after the transaction, for example in a"
                            + " @TransactionalEventListener, and begin the transaction in the action");
        }
    }

    private <T, X extends Throwable> @Nullable T run(
            ClaimRequest request,
            InDoubtSettings doubt,
            long askedAt,
            Acquired acquired,
            ParameterizedTypeReference<T> type,
            Action<? extends @Nullable T, X> action)
            throws X {
        Cancellation call = new Cancellation();
        Lease lease = renewer.renewLease(request.id(), request.lease(), askedAt, call::stop);
        try {
            HeldClaim claim = new HeldClaim(request.id(), acquired, lease::isHeld, () -> claims.fence(request.id()));
            T result = act(doubt, claim, lease, call, action);
            return complete(request, claim, lease, result, type);
        } finally {
            lease.stopRenewal();
        }
    }

    private <T, X extends Throwable> @Nullable T act(
            InDoubtSettings doubt,
            HeldClaim claim,
            Lease lease,
            Cancellation call,
            Action<? extends @Nullable T, X> action)
            throws X {
        boolean called = false;
        try (call) {
            claim.ensureHeld();
            called = true;
            return action.run(claim);
        } catch (Throwable failure) {
            lease.stopRenewal();
            end(
                    called
                            ? FailedAttempt.resolution(claim, failure, call.wasStopped(), doubt)
                            : new ClaimResolution.Released(claim.id(), "the action was not called", false));
            throw failure;
        }
    }

    /**
     * Releases or parks the key of an action that failed. If this fails too, the failure is only logged, because the
     * caller needs the action's own exception.
     */
    private void end(ClaimResolution resolution) {
        try {
            claims.awaitResolution(resolution, () -> false);
        } catch (RuntimeException unanswered) {
            log.warn(
                    "Releasing {} failed; it can be claimed again when its lease ends",
                    resolution.claim().key(),
                    PrintableException.of(unanswered));
        }
    }

    /**
     * Completes the key. Returns the result after writing it as JSON and reading it back, so that the first caller gets
     * the same as later callers.
     */
    private <T> @Nullable T complete(
            ClaimRequest request,
            HeldClaim claim,
            Lease lease,
            @Nullable T result,
            ParameterizedTypeReference<T> type) {
        lease.completing();
        StoredResults.Kept<T> kept = results.keep(request.key(), result, type);
        if (!isRecorded(new ClaimResolution.Completed(request.id(), kept.json()), lease)) {
            throw claim.lost("another worker took the key over before the action ended; its result is discarded");
        }
        return kept.get();
    }

    private boolean isRecorded(ClaimResolution.Completed completion, Lease lease) {
        try {
            return claims.awaitResolution(completion, lease::isHeld);
        } catch (RuntimeException unanswered) {
            throw new ClaimStoreUnavailableException(
                    completion.claim().key(),
                    "The action has ended, but its completion may not be recorded, because the claim store did not answer;"
                            + " the next call finds the key completed or in doubt",
                    unanswered);
        }
    }
}
