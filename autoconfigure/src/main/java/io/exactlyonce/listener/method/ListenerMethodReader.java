package io.exactlyonce.listener.method;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.PropertyResolver;

/** Reads {@link ExactlyOnceListener} methods, and refuses those that {@link ListenerMethodValidator} refuses. */
public final class ListenerMethodReader {

    private static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(1);

    private final PropertyResolver properties;
    private final ListenerBeans beans;
    private final ResultSerializer results;

    /**
     * Makes a reader.
     *
     * @param properties resolve {@code ${...}}
     * @param beans finds what listeners name
     * @param results reads stored results
     */
    public ListenerMethodReader(PropertyResolver properties, ListenerBeans beans, ResultSerializer results) {
        this.properties = properties;
        this.beans = beans;
        this.results = results;
    }

    /** Returns whether a method has the annotation itself. */
    static boolean isExactlyOnce(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, ExactlyOnceListener.class);
    }

    /**
     * Reads a method.
     *
     * @param bean the proxy that containers call
     * @param declared its target class's method
     * @param returned what it returns, as far as its bean's class tells
     * @param arguments what its key may name
     * @throws InvalidListenerException if the method cannot be handled exactly once
     */
    ListenerMethod read(Object bean, ListenerDeclaration declared, Class<?> returned, KeyArguments arguments) {
        Method method = declared.method();
        ExactlyOnceListener annotation = declared.annotation();
        requirePreparedContainer(declared);
        ListenerMethodValidator.requireSupportedShape(declared, returned);
        ListenerMethodValidator.requireNoAcknowledgement(method, declared.seen(), properties);
        ListenerMethodValidator.requireAdvised(bean, method);
        TransactionAdvice advice = TransactionAdvice.of(bean, method);
        advice.requireInside();
        String manager = properties.resolveRequiredPlaceholders(annotation.transactionManager());
        return new ListenerMethod(
                method,
                asyncResult(method, returned),
                key(annotation, arguments),
                scope(declared),
                doubt(annotation, method),
                beans.transaction(method, annotation.effects(), manager, advice),
                results);
    }

    /** Returns the type of an asynchronous method's results, or {@code null} if the method is none. */
    static @Nullable Type asyncResult(Method method, Class<?> returned) {
        if (!CompletionStage.class.isAssignableFrom(returned)) {
            return null;
        }
        // Only types that a CompletableFuture can stand in for get here: their result is their own parameter.
        ResolvableType future = ResolvableType.forMethodReturnType(method);
        return future.hasGenerics() ? future.getGeneric(0).getType() : Object.class;
    }

    private @Nullable KeyExpression key(ExactlyOnceListener annotation, KeyArguments arguments) {
        String text = properties.resolveRequiredPlaceholders(annotation.key());
        return text.isBlank() ? null : KeyExpression.parse(text, arguments);
    }

    /**
     * Returns the listener's timeout, if it has one.
     *
     * @throws InvalidListenerException if it is no duration, or out of bounds
     */
    @Nullable Duration timeout(ListenerDeclaration declared) {
        String text =
                properties.resolveRequiredPlaceholders(declared.annotation().timeout());
        return text.isBlank() ? null : timeout(text.strip(), declared.method());
    }

    private static Duration timeout(String text, Method method) {
        Duration timeout;
        try {
            timeout = DurationStyle.detectAndParse(text);
        } catch (IllegalArgumentException | ArithmeticException unreadable) {
            throw invalidTimeout(method, text, "is no duration");
        }
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(VisibilityWindow.CEILING) > 0) {
            throw invalidTimeout(method, text, "must be from 1s to 12h");
        }
        return timeout;
    }

    private static InvalidListenerException invalidTimeout(Method method, String text, String problem) {
        return new InvalidListenerException(
                method,
                "its timeout '%s' %s".formatted(text, problem),
                "write a number with a unit, such as 90s or 5m, or leave the timeout out");
    }

    private InDoubtPolicy doubt(ExactlyOnceListener annotation, Method method) {
        String name = properties.resolveRequiredPlaceholders(annotation.reconciler());
        boolean reconciles = annotation.onAbandoned() == AbandonedPolicy.RECONCILE;
        if (reconciles && annotation.effects() == Effects.DATABASE) {
            throw new InvalidListenerException(
                    method,
                    "onAbandoned = RECONCILE has no meaning with effects = DATABASE, which leaves no key in doubt",
                    "leave onAbandoned out");
        }
        if (!reconciles && !name.isBlank()) {
            throw new InvalidListenerException(
                    method,
                    "it names the reconciler '%s', which is never asked with onAbandoned = %s"
                            .formatted(name, annotation.onAbandoned()),
                    "set onAbandoned = RECONCILE, or leave reconciler out");
        }
        return new InDoubtPolicy(
                annotation.onAbandoned(),
                reconciles ? beans.reconciler(name, method) : null,
                List.of(annotation.parkFor()));
    }

    /** Returns the scope of a method's keys, or {@code null} for its queue's. */
    @Nullable String scope(ListenerDeclaration declared) {
        String scope =
                properties.resolveRequiredPlaceholders(declared.annotation().scope());
        if (scope.isBlank()) {
            return null;
        }
        if (scope.length() > ClaimKey.MAX_LENGTH) {
            throw new InvalidListenerException(
                    declared.method(),
                    "scope has %d characters, more than %d".formatted(scope.length(), ClaimKey.MAX_LENGTH),
                    "shorten it");
        }
        if (scope.indexOf('\0') >= 0) {
            throw new InvalidListenerException(
                    declared.method(), "scope contains a NUL character, which PostgreSQL cannot store", "remove it");
        }
        return scope;
    }

    private void requirePreparedContainer(ListenerDeclaration declared) {
        String factory = properties.resolveRequiredPlaceholders(declared.seen().factory());
        if (!beans.isPreparing(factory)) {
            throw new InvalidListenerException(
                    declared.method(),
                    "its container factory '%s' does not prepare containers for exactly-once handling"
                            .formatted(factory.isEmpty() ? "(awspring's default)" : factory),
                    "leave the factory attribute out, and @SqsListener off the method: the application's default container "
                            + "factory is used underneath");
        }
    }
}
