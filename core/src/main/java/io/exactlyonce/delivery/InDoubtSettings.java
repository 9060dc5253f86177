package io.exactlyonce.delivery;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A listener's policy for keys that must not simply run again.
 *
 * @param whenInDoubt for keys in doubt
 * @param reconciler decides on those; with {@link InDoubtPolicy#RECONCILE}, and only then
 * @param parkFor types of handlers' exceptions for which a retry is useless
 */
public record InDoubtSettings(
        InDoubtPolicy whenInDoubt, @Nullable Reconciler reconciler, List<Class<? extends Throwable>> parkFor) {

    /** Runs every key again. */
    public static final InDoubtSettings RERUN = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of());

    public InDoubtSettings {
        if ((whenInDoubt == InDoubtPolicy.RECONCILE) != (reconciler != null)) {
            throw new IllegalArgumentException("RECONCILE needs a reconciler, and only RECONCILE does");
        }
        parkFor = List.copyOf(parkFor);
    }

    InDoubt inDoubt() {
        return whenInDoubt == InDoubtPolicy.PARK ? InDoubt.PARK : InDoubt.TAKE_OVER;
    }

    /** Returns whether the key of a stopped handler is left to an operator. */
    public boolean parksStopped() {
        return whenInDoubt == InDoubtPolicy.PARK;
    }

    /** Returns whether a retry is useless after a handler's exception. Its causes do not count. */
    public boolean parksFor(Throwable thrown) {
        Throwable failure = unwrap(thrown);
        return parkFor.stream().anyMatch(type -> type.isInstance(failure));
    }

    /** Unwraps an exception from that of a proxy around the handler. */
    public static Throwable unwrap(Throwable thrown) {
        boolean wrapper = thrown instanceof UndeclaredThrowableException || thrown instanceof InvocationTargetException;
        Throwable cause = wrapper ? thrown.getCause() : null;
        return cause == null ? thrown : unwrap(cause);
    }
}
