package io.exactlyonce.delivery;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A listener's policy for keys in doubt, and for keys whose handlers fail again and again.
 *
 * @param whenInDoubt policy for keys in doubt
 * @param reconciler decides on keys in doubt; required by {@link InDoubtPolicy#RECONCILE}, and {@code null} for all
 *     other policies
 * @param parkFor the types of handlers' exceptions after which a retry is useless
 * @param maxAttempts how many attempts at a key may throw before the key is parked; 0 for any number
 */
public record InDoubtSettings(
        InDoubtPolicy whenInDoubt,
        @Nullable Reconciler<?> reconciler,
        List<Class<? extends Throwable>> parkFor,
        int maxAttempts) {

    /**
     * The largest {@code maxAttempts}. SQS counts at most as many receives before it moves a message to the dead-letter
     * queue.
     */
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

    /** Makes settings without a limit on the attempts that throw. */
    public InDoubtSettings(
            InDoubtPolicy whenInDoubt, @Nullable Reconciler<?> reconciler, List<Class<? extends Throwable>> parkFor) {
        this(whenInDoubt, reconciler, parkFor, 0);
    }

    /** Returns what the claim of a key does if an earlier attempt left the key in doubt. */
    InDoubt inDoubt() {
        return switch (whenInDoubt) {
            case RERUN, RECONCILE -> InDoubt.TAKE_OVER;
            case PARK -> InDoubt.PARK;
        };
    }

    /** Returns whether the key is parked after an attempt that was stopped. */
    public boolean parksStopped() {
        return switch (whenInDoubt) {
            case RERUN, RECONCILE -> false;
            case PARK -> true;
        };
    }

    /**
     * Returns whether a retry is useless after this exception of a handler. The causes of the exception do not count.
     */
    public boolean parksFor(Throwable thrown) {
        return HandlerFailure.of(thrown).isOneOf(parkFor);
    }

    /**
     * Returns why the key is to be parked after an attempt that threw; {@code null} if the key is to be tried again.
     *
     * @param failures how many attempts at the key threw, including this one
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
