package io.exactlyonce.delivery;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A listener's policy for keys that must not simply run again.
 *
 * @param whenInDoubt policy for keys in doubt
 * @param reconciler decides on these keys; only with {@link InDoubtPolicy#RECONCILE}, which requires it
 * @param parkFor types of handlers' exceptions for which a retry is useless
 * @param maxAttempts how many attempts of a key may throw before it is parked; 0 for any number
 */
public record InDoubtSettings(
        InDoubtPolicy whenInDoubt,
        @Nullable Reconciler<?> reconciler,
        List<Class<? extends Throwable>> parkFor,
        int maxAttempts) {

    /**
     * Largest number of attempts that may throw: as many as the receives that SQS counts before the dead-letter queue.
     */
    public static final int MOST_ATTEMPTS = 1_000;

    /** Runs every key again. */
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

    /** Makes settings with which any number of attempts may throw. */
    public InDoubtSettings(
            InDoubtPolicy whenInDoubt, @Nullable Reconciler<?> reconciler, List<Class<? extends Throwable>> parkFor) {
        this(whenInDoubt, reconciler, parkFor, 0);
    }

    /** Returns what a claim does with a key that an earlier attempt left in doubt. */
    InDoubt inDoubt() {
        return switch (whenInDoubt) {
            case RERUN, RECONCILE -> InDoubt.TAKE_OVER;
            case PARK -> InDoubt.PARK;
        };
    }

    /** Returns whether an attempt that was stopped leaves its key to an operator. */
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
     * Returns why an attempt that threw leaves the key to an operator; {@code null} if the key is to be tried again.
     *
     * @param failures how many attempts of the key threw, including this one
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
