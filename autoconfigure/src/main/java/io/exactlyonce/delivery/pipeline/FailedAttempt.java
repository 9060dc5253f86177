package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.pipeline.ReconcileStep.ParkRequest;
import io.exactlyonce.delivery.pipeline.ReconcileStep.ReconciliationFailure;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * An attempt that ended without a result, and what is to become of its key.
 *
 * @param claim the claim that it ran under
 * @param failure what it threw
 * @param stopped whether it was stopped from outside, so that it may have had effects that it could not report
 */
public record FailedAttempt(ClaimId claim, Throwable failure, boolean stopped) {

    /** Why a claim is released whose handler was not called. */
    static final String NOT_CALLED = "the handler was not called";

    /** Bounds the look for a cause, since causes may form a circle. */
    private static final int MOST_CAUSES = 20;

    public FailedAttempt {
        stopped = stopped || learnedOfLoss(claim, failure) || wasInterrupted(failure);
    }

    /**
     * Returns whether a handler learned of the loss of its claim by itself, from {@code ensureHeld()} or {@code fence()},
     * before it was interrupted: what it had done until then is in doubt as well.
     */
    static boolean learnedOfLoss(ClaimId claim, Throwable failure) {
        return causes(failure)
                .anyMatch(cause -> cause instanceof ClaimLostException lost
                        && lost.keyHash().equals(claim.key().hash()));
    }

    /** Returns whether an interrupt ended it, which need not be ours: the application, too, may stop its own threads. */
    private static boolean wasInterrupted(Throwable failure) {
        return causes(failure)
                .anyMatch(
                        cause -> cause instanceof InterruptedException || cause instanceof ClosedByInterruptException);
    }

    private static Stream<Throwable> causes(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(MOST_CAUSES);
    }

    /** Parks the key or gives it up, and waits for that; a doubt from before stays in both cases. */
    public void settle(ClaimWriter keeper, InDoubtPolicy policy) {
        if (mustBeParked(policy)) {
            ClaimWriter.await(keeper.park(List.of(parking())));
        } else {
            ClaimWriter.await(keeper.release(List.of(release())));
        }
    }

    ClaimEnd.Parked parking() {
        return new ClaimEnd.Parked(claim, reason(), stopped);
    }

    ClaimEnd.Released release() {
        return new ClaimEnd.Released(claim, reason(), stopped || failure instanceof ReconciliationFailure);
    }

    boolean mustBeParked(InDoubtPolicy policy) {
        if (failure instanceof ParkRequest || (stopped && policy.parksStopped())) {
            return true;
        }
        return !(failure instanceof ReconciliationFailure) && policy.parksFor(failure);
    }

    private String reason() {
        if (failure instanceof ParkRequest request) {
            return String.valueOf(request.getMessage());
        }
        return stopped ? "stopped from outside: " + failure : failure.toString();
    }
}
