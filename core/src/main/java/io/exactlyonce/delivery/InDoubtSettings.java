package io.exactlyonce.delivery;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A listener's policy for keys in doubt, and for keys whose handler keeps failing.
 *
 * @param whenInDoubt what to do with a key in doubt
 * @param reconciler decides on keys in doubt. Required by {@link InDoubtPolicy#RECONCILE}, and {@code null} for all
 *     other policies
 * @param parkFor exceptions of the handler after which its key is parked, because a retry would be useless
 * @param maxAttempts the key is parked after this number of attempts that threw; 0 for no limit
 */
public record InDoubtSettings(
        InDoubtPolicy whenInDoubt,
        @Nullable Reconciler<?> reconciler,
        List<Class<? extends Throwable>> parkFor,
        int maxAttempts) {

    /** Limit of {@code maxAttempts}. SQS has the same limit for {@code maxReceiveCount}. */
    public static final int MOST_ATTEMPTS = 1_000;

    /** Runs each key again, and parks none. */
    public static final InDoubtSettings RERUN = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of());

    public InDoubtSettings {
        boolean needsReconciler = switch (whenInDoubt) {
            case RECONCILE -> true;
            case RERUN, PARK -> false;
        };
        if (needsReconciler != (reconciler != null)) {
            throw new IllegalArgumentException("RECONCILE needs a reconciler, and only RECONCILE does");
        }
        parkFor = List.copyOf(parkFor);
    }

    /** Makes settings without a limit of attempts. */
    public InDoubtSettings(
            InDoubtPolicy whenInDoubt, @Nullable Reconciler<?> reconciler, List<Class<? extends Throwable>> parkFor) {
        this(whenInDoubt, reconciler, parkFor, 0);
    }

    /** Returns what the store does if the key is in doubt when it is claimed. */
    InDoubt inDoubt() {
        return switch (whenInDoubt) {
            case RERUN, RECONCILE -> InDoubt.TAKE_OVER;
            case PARK -> InDoubt.PARK;
        };
    }

    /** Returns whether to park a key after its handler was stopped. */
    public boolean parksStopped() {
        return switch (whenInDoubt) {
            case RERUN, RECONCILE -> false;
            case PARK -> true;
        };
    }

    /** Returns whether this exception of a handler parks the key. The causes of the exception are not examined. */
    public boolean parksFor(Throwable thrown) {
        return HandlerFailure.of(thrown).isOneOf(parkFor);
    }

    /**
     * Returns why to park the key after its handler threw; {@code null} to try again.
     *
     * @param failures how many attempts have thrown, including this one
     */
    public @Nullable String reasonToPark(Throwable thrown, int failures) {
        if (parksFor(thrown)) {
            return thrown.toString();
        }
        return maxAttempts > 0 && failures >= maxAttempts
                ? "maxAttempts (%d) is reached: %s".formatted(maxAttempts, thrown)
                : null;
    }
}
