package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * A listener's reconciler, whose results are checked before they are stored: a later reader of a wrong one would not know who wrote it.
 *
 * @param reconciler the application's own
 * @param result what the handler returns; {@link ResolvableType#NONE} if that is not stored
 */
public record TypedReconciler(Reconciler<?> reconciler, ResolvableType result) implements Reconciler<@Nullable Object> {

    /**
     * Returns the type of results that the reconciler's class names, if none of them could be of the handler's type; {@code null} if
     * some could, or the class names none, as that of a lambda.
     */
    public @Nullable ResolvableType unfitType() {
        ResolvableType found = ResolvableType.forClass(AopUtils.getTargetClass(reconciler))
                .as(Reconciler.class)
                .getGeneric();
        Class<?> type = found.resolve();
        Class<?> expected = ClassUtils.resolvePrimitiveIfNecessary(result.toClass());
        return !isStored()
                        || type == null
                        || type == Void.class
                        || type.isAssignableFrom(expected)
                        || expected.isAssignableFrom(type)
                ? null
                : found;
    }

    @Override
    public Reconciliation<@Nullable Object> reconcile(InDoubtAttempt attempt) throws Exception {
        Reconciliation<?> answer =
                Objects.requireNonNull(reconciler.reconcile(attempt), "The reconciler answered null");
        return switch (answer.decision()) {
            case DONE -> Reconciliation.done(isStored() ? fit(answer.result(), attempt) : null);
            case RUN_AGAIN -> Reconciliation.runAgain();
            case PARK -> Reconciliation.park(answer.reason());
        };
    }

    private boolean isStored() {
        return !result.equals(ResolvableType.NONE);
    }

    private @Nullable Object fit(@Nullable Object found, InDoubtAttempt attempt) {
        Class<?> misfit = found == null ? null : misfit(found, result);
        if (misfit != null) {
            throw new IllegalStateException(
                    "The reconciler of listener '%s' answered done with a result that is or contains a %s, but the handler returns %s; pass that type to Reconciliation.done(..), or call done() without a result"
                            .formatted(attempt.listener(), misfit.getName(), result));
        }
        return found;
    }

    /** Returns the class of a value that is not of a type, or of one of its elements; {@code null} if each is. */
    private static @Nullable Class<?> misfit(Object value, ResolvableType type) {
        if (!ClassUtils.resolvePrimitiveIfNecessary(type.toClass()).isInstance(value)) {
            return value.getClass();
        }
        if (value instanceof Collection<?> elements) {
            return misfit(elements, type.as(Collection.class).getGeneric());
        }
        if (value instanceof Map<?, ?> map) {
            ResolvableType[] types = type.as(Map.class).getGenerics();
            Class<?> key = types.length < 2 ? null : misfit(map.keySet(), types[0]);
            return key != null || types.length < 2 ? key : misfit(map.values(), types[1]);
        }
        return null;
    }

    private static @Nullable Class<?> misfit(Collection<?> elements, ResolvableType type) {
        for (Object element : elements) {
            Class<?> misfit = element == null ? null : misfit(element, type);
            if (misfit != null) {
                return misfit;
            }
        }
        return null;
    }
}
