package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.HandlerFailure;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import java.util.List;

/**
 * Decides whether to park or to release a key after its handler failed. A handler that was stopped does not count
 * toward {@code maxAttempts}.
 */
public final class FailedAttempt {

    /** Written to the claim table as the reason, if a claim is released before its handler was called. */
    static final String NOT_CALLED = "the handler was not called";

    private FailedAttempt() {}

    /**
     * Parks or releases the key. If the handler was stopped, the key is in doubt, because the handler may have had
     * effects before.
     *
     * @param failure the handler's exception
     * @param stopped whether the handler was stopped from outside (for example by its timeout)
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
     * Parks or releases the key if the handler's advice failed before it called the handler's method. The key is not in
     * doubt, because the method had no effect.
     *
     * @param stopped whether the advice was stopped from outside (for example by the timeout)
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
