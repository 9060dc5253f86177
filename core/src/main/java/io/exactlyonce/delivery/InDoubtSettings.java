package io.exactlyonce.delivery;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a listener does with keys that must not simply be run again.
 *
 * @param whenInDoubt for keys whose earlier attempt was abandoned
 * @param reconciler decides on those; with {@link InDoubtPolicy#RECONCILE}, and only then
 * @param parkFor types of handlers' exceptions for which trying again is of no use
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

    /** Returns whether a handler that was stopped from outside leaves its key to a person. */
    public boolean parksStopped() {
        return whenInDoubt == InDoubtPolicy.PARK;
    }

    /** Returns whether trying again is of no use after what a handler threw. Its causes are its own business. */
    public boolean parksFor(Throwable thrown) {
        Throwable failure = unwrap(thrown);
        return parkFor.stream().anyMatch(type -> type.isInstance(failure));
    }

    /** Takes an exception out of what a proxy around the handler made of it. */
    public static Throwable unwrap(Throwable thrown) {
        boolean wrapper = thrown instanceof UndeclaredThrowableException || thrown instanceof InvocationTargetException;
        Throwable cause = wrapper ? thrown.getCause() : null;
        return cause == null ? thrown : unwrap(cause);
    }
}
