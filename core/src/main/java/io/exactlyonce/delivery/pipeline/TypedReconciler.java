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
 * Passes a listener's reconciler the same payload as the handler gets, and checks the reconciler's results before they
 * are stored. A wrong result would otherwise fail much later, when it is read.
 *
 * @param reconciler the application's own reconciler
 * @param payload converts a message to the handler's payload (for example to the content of an SNS notification)
 * @param result the type that the handler returns; {@link ResolvableType#NONE} if its result is not stored
 */
public record TypedReconciler(
        Reconciler<?> reconciler, Function<Message<?>, @Nullable Object> payload, ResolvableType result)
        implements Reconciler<@Nullable Object> {

    /**
     * Returns the reconciler's result type, if it does not fit the handler's result type.
     *
     * @return {@code null} if the types fit, if the result is not stored, or if the reconciler's class declares no type
     *     (for example a lambda)
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
     * Checks whether the value fits the type. Also checks the elements of collections and maps.
     *
     * @return the class of the first object that does not fit; {@code null} if all fit
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

    /** Returns the same payload as the handler gets. */
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
