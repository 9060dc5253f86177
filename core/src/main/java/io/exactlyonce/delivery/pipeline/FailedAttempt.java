package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.delivery.InDoubtSettings;
import java.util.List;

/** Decides on a key whose attempt failed. */
public final class FailedAttempt {

    /** The reason for releasing a claim whose handler was not called. */
    static final String NOT_CALLED = "the handler was not called";

    private FailedAttempt() {}

    /**
     * Parks or releases the key. It is in doubt if the attempt was stopped, and may have had effects that it could not
     * report.
     *
     * @param claim the claim that it ran under
     * @param failure its exception
     * @param stopped whether it was stopped by the engine
     */
    public static ClaimResolution resolution(
            ClaimId claim, Throwable failure, boolean stopped, InDoubtSettings policy) {
        boolean inDoubt = stopped || HandlerFailure.of(failure).wasStopped(List.of(claim));
        String reason = inDoubt ? "stopped from outside: " + failure : failure.toString();
        return (inDoubt && policy.parksStopped()) || policy.parksFor(failure)
                ? new ClaimResolution.Parked(claim, reason, inDoubt)
                : new ClaimResolution.Released(claim, reason, inDoubt);
    }

    /**
     * Parks or releases the key of a handler whose advice failed before it called the method. The key is not in doubt,
     * whatever stopped the advice: there was no effect.
     */
    static ClaimResolution notCalled(ClaimId claim, Throwable failure, InDoubtSettings policy) {
        String reason = NOT_CALLED + ": " + failure;
        return policy.parksFor(failure)
                ? new ClaimResolution.Parked(claim, reason, false)
                : new ClaimResolution.Released(claim, reason, false);
    }
}
