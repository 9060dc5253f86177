package io.exactlyonce.delivery;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.claim.ClaimId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** An exception of a handler. Proxies may have wrapped it in other exceptions. */
public final class HandlerFailure {

    private final Throwable thrown;
    private final Throwable handlers;

    private HandlerFailure(Throwable thrown, Throwable handlers) {
        this.thrown = thrown;
        this.handlers = handlers;
    }

    public static HandlerFailure of(Throwable thrown) {
        return of(thrown, wrapper -> false);
    }

    /**
     * Finds the handler's own exception. Unwraps the exceptions of proxies, and those that {@code isWrapper} accepts.
     */
    public static HandlerFailure of(Throwable thrown, Predicate<Throwable> isWrapper) {
        Throwable handlers = Causes.of(thrown)
                .filter(cause -> cause.getCause() == null || !(isOfProxy(cause) || isWrapper.test(cause)))
                .findFirst()
                .orElse(thrown);
        return new HandlerFailure(thrown, handlers);
    }

    private static boolean isOfProxy(Throwable thrown) {
        return thrown instanceof UndeclaredThrowableException || thrown instanceof InvocationTargetException;
    }

    /**
     * Returns the failures of single items of a batch, by position. Empty if the whole batch failed.
     *
     * <p>If the application has wrapped {@link FailedItems} in another exception, the whole batch counts as failed. The
     * code that wrapped it may have rolled back all items.
     */
    public Map<Integer, Throwable> ofItems() {
        return handlers instanceof FailedItems items ? items.ofItems() : Map.of();
    }

    /**
     * Returns whether the handler's exception has one of these types. The causes of the exception are not examined.
     */
    boolean isOneOf(List<Class<? extends Throwable>> types) {
        return types.stream().anyMatch(type -> type.isInstance(handlers));
    }

    /**
     * Returns whether the handler was stopped: by an interrupt, or because {@code ensureHeld()} or {@code fence()}
     * found a claim lost. The exceptions of single items are examined, too.
     *
     * <p>A stopped handler may have had effects. So the keys of all its claims are in doubt.
     *
     * @param claims the handler's claims. The loss of any other claim does not count as a stop
     */
    public boolean wasStopped(List<ClaimId> claims) {
        return Causes.of(thrown)
                .flatMap(cause -> cause instanceof FailedItems items
                        ? items.causes().stream().flatMap(Causes::of)
                        : Stream.of(cause))
                .anyMatch(cause -> Causes.isInterrupt(cause) || isLossOf(claims, cause));
    }

    private static boolean isLossOf(List<ClaimId> claims, Throwable cause) {
        return cause instanceof ClaimLostException lost
                && claims.stream()
                        .anyMatch(claim -> claim.key().scope().equals(lost.scope())
                                && claim.key().keyHash().equals(lost.keyHash()));
    }
}
