package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import java.util.List;

/**
 * Decides on the key of an attempt that failed. An attempt that was stopped does not count as an attempt that threw.
 */
public final class FailedAttempt {

    /** The reason for releasing a claim without a call of the handler. */
    static final String NOT_CALLED = "the handler was not called";

    private FailedAttempt() {}

    /**
     * Parks or releases the key. If the attempt was stopped, the key is in doubt, because the attempt may have had
     * effects that it could not report.
     *
     * @param claim the claim of the attempt
     * @param failure the attempt's exception
     * @param stopped whether the engine stopped the attempt
     */
    public static ClaimResolution resolution(
            HeldClaim claim, Throwable failure, boolean stopped, InDoubtSettings policy) {
        if (!stopped && !wasStopped(claim, failure)) {
            return threw(claim, "", failure, policy);
        }
        String reason = "stopped from outside: " + failure;
        return policy.parksStopped() || policy.parksFor(failure)
                ? new ClaimResolution.Parked(claim.id(), reason, true)
                : new ClaimResolution.Released(claim.id(), reason, true);
    }

    /**
     * Parks or releases the key of a handler whose advice failed before it called the method. The key is never in
     * doubt, because the method was not called and so had no effect.
     *
     * @param stopped whether the engine requested the stop of the advice
     */
    static ClaimResolution notCalled(HeldClaim claim, Throwable failure, boolean stopped, InDoubtSettings policy) {
        String what = NOT_CALLED + ": ";
        if (!stopped && !wasStopped(claim, failure)) {
            return threw(claim, what, failure, policy);
        }
        return policy.parksFor(failure)
                ? new ClaimResolution.Parked(claim.id(), what + failure, false)
                : new ClaimResolution.Released(claim.id(), what + failure, false);
    }

    private static ClaimResolution threw(HeldClaim claim, String what, Throwable failure, InDoubtSettings policy) {
        ClaimId id = claim.id();
        String reason = policy.reasonToPark(failure, claim.acquired().failures() + 1);
        return reason == null
                ? new ClaimResolution.Released(id, what + failure, false, true)
                : new ClaimResolution.Parked(id, what + reason, false, true);
    }

    private static boolean wasStopped(HeldClaim claim, Throwable failure) {
        return HandlerFailure.of(failure).wasStopped(List.of(claim.id()));
    }
}
