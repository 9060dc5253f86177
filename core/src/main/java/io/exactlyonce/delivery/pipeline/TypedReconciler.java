package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.Claim;
import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.util.ClassUtils;

/**
 * Gives a listener's reconciler the payload that the handler takes. Checks the reconciler's results before they are
 * stored, because a wrong result would otherwise fail much later, when it is read, without a trace of its origin.
 *
 * @param reconciler the application's own reconciler
 * @param payload converts a message to the payload that the handler takes, such as the content of an SNS notification
 * @param result the type that the handler returns; {@link ResolvableType#NONE} if its result is not stored
 */
public record TypedReconciler(
        Reconciler<?> reconciler, Function<Message<?>, @Nullable Object> payload, ResolvableType result)
        implements Reconciler<@Nullable Object> {

    /**
     * Returns the result type that the reconciler's class declares, if it does not fit the handler's result type:
     * neither type is assignable to the other.
     *
     * @return {@code null} if the types fit, if the result is not stored, or if the class declares no type, such as the
     *     class of a lambda
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
        Reconciliation<?> answer = Objects.requireNonNull(
                reconciler.reconcile(new Reading(attempt, payload)), "The reconciler answered null");
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

    /**
     * Returns the class of the value or element that does not fit a type; {@code null} if the value and its elements
     * all fit.
     */
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

    /** An attempt whose payload is the one that the handler takes. */
    private record Reading(InDoubtAttempt attempt, Function<Message<?>, @Nullable Object> payload)
            implements InDoubtAttempt {

        @Override
        public String listener() {
            return attempt.listener();
        }

        @Override
        public Claim claim() {
            return attempt.claim();
        }

        @Override
        public Message<?> message() {
            return attempt.message();
        }

        @Override
        public <T> T payload(Class<T> type) {
            return Reconciling.cast(payload.apply(message()), type, listener());
        }
    }
}
