package io.exactlyonce.listener.method;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.sighting.ListenerModes;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.PropertyResolver;

/** Reads {@link ExactlyOnceListener} methods, and refuses those that {@link ListenerMethodValidator} refuses. */
public final class ListenerMethodReader {

    private final PropertyResolver properties;
    private final ListenerBeans beans;
    private final ResultSerializer results;
    private final ListenerModes modes;

    /**
     * Makes a reader.
     *
     * @param modes say which listeners are only observed, and resolve {@code ${...}}
     * @param beans finds what listeners name
     * @param results reads stored results
     */
    public ListenerMethodReader(ListenerModes modes, ListenerBeans beans, ResultSerializer results) {
        this.properties = modes.properties();
        this.beans = beans;
        this.results = results;
        this.modes = modes;
    }

    /** As {@link ListenerMethodValidator#tellRefusals} does. */
    boolean tellRefusals(ListenerDeclaration declared, Class<?> returned) {
        return ListenerMethodValidator.tellRefusals(declared, returned, properties);
    }

    /** Returns whether a listener is only observed. */
    boolean isObserved(ListenerDeclaration declared) {
        return declared.isObserved(modes);
    }

    /**
     * Reads a method that is only observed.
     *
     * @param arguments what its key may name
     * @throws InvalidListenerException if its key cannot be read, or if it takes a claim
     */
    ListenerMethod readObserved(ListenerDeclaration declared, KeyArguments arguments) {
        Method method = declared.method();
        ClaimArgumentResolver.requireNoClaim(method);
        requirePreparedContainer(declared);
        return new ListenerMethod(
                method,
                false,
                key(declared.annotation(), arguments),
                scope(declared),
                InDoubtPolicy.RERUN,
                null,
                results);
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
                CompletionStage.class.isAssignableFrom(returned),
                key(annotation, arguments),
                scope(declared),
                doubt(annotation, method),
                beans.transaction(method, annotation.effects(), manager, advice),
                results);
    }

    private @Nullable KeyExpression key(ExactlyOnceListener annotation, KeyArguments arguments) {
        String text = properties.resolveRequiredPlaceholders(annotation.key());
        return text.isBlank() ? null : KeyExpression.parse(text, arguments);
    }

    /** As {@link ListenerDeclaration#timeout} returns it. */
    @Nullable Duration timeout(ListenerDeclaration declared) {
        return declared.timeout(properties);
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
    private @Nullable String scope(ListenerDeclaration declared) {
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
        KeyRules.unstorable(scope).ifPresent(what -> {
            throw new InvalidListenerException(declared.method(), "scope contains " + what, "remove it");
        });
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
