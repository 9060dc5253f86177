package io.exactlyonce.listener;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.DoubtPolicy;
import io.exactlyonce.delivery.ResultReader;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.Advised;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Reads {@link ExactlyOnceListener} methods, and refuses those whose handlers could run unclaimed. */
final class ListenerMethodFactory {

    private static final Logger log = LoggerFactory.getLogger(ListenerMethodFactory.class);

    private final UnaryOperator<String> placeholders;
    private final Predicate<String> preparing;
    private final Reconcilers reconcilers;
    private final ResultReader results;
    private final HandlerTransactions transactions;

    /**
     * Makes a factory.
     *
     * @param placeholders resolves {@code ${...}}
     * @param preparing whether a bean is a container factory that prepares containers for exactly-once handling
     * @param reconcilers finds reconcilers
     * @param transactions finds the transactions of handlers whose effects are in the database
     * @param results reads stored results
     */
    ListenerMethodFactory(
            UnaryOperator<String> placeholders,
            Predicate<String> preparing,
            Reconcilers reconcilers,
            HandlerTransactions transactions,
            ResultReader results) {
        this.placeholders = placeholders;
        this.preparing = preparing;
        this.reconcilers = reconcilers;
        this.transactions = transactions;
        this.results = results;
    }

    static boolean isExactlyOnce(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, ExactlyOnceListener.class);
    }

    /**
     * Reads a method.
     *
     * @param bean the proxy that containers call
     * @param method its target class's method
     * @param returned what it returns, as far as its bean's class tells
     * @throws InvalidListenerException if the method cannot be handled exactly once
     */
    ListenerMethod read(Object bean, Method method, Class<?> returned) {
        ExactlyOnceListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExactlyOnceListener.class);
        if (annotation == null) {
            throw new IllegalArgumentException(method + " is no @ExactlyOnceListener");
        }
        requirePreparedContainer(method);
        requireSupportedShape(method);
        AsyncResults.requireTellingWhenDone(method, returned);
        AcknowledgementRules.require(method, placeholders);
        requireAdvised(bean, method);
        requireOneThread(annotation, method, returned);
        TransactionAdvice advice = TransactionAdvice.of(bean, method);
        advice.requireInside();
        String manager = placeholders.apply(annotation.transactionManager());
        return new ListenerMethod(
                method,
                AsyncResults.typeOf(method, returned),
                key(annotation, method),
                scope(annotation, method),
                doubt(annotation, method),
                transactions.find(method, annotation.effects(), manager, advice),
                results);
    }

    private static void requireOneThread(ExactlyOnceListener annotation, Method method, Class<?> returned) {
        if (annotation.effects() == Effects.DATABASE && AsyncResults.typeOf(method, returned) != null) {
            throw new InvalidListenerException(
                    method,
                    "effects = DATABASE, but it returns before its work is done: a transaction is bound to one thread",
                    "do the work in the method itself, or set effects = EXTERNAL");
        }
    }

    private @Nullable KeyExpression key(ExactlyOnceListener annotation, Method method) {
        String text = placeholders.apply(annotation.key());
        if (text.isBlank()) {
            log.info(
                    "{} has no key: the message attribute {} is used, else the SQS message id, which covers redelivery "
                            + "only (a resend or a redrive has a new id)",
                    ClassUtils.getQualifiedMethodName(method),
                    ReceivedMessage.KEY_ATTRIBUTE);
            return null;
        }
        return KeyExpression.parse(text, method);
    }

    /**
     * Returns the listener's timeout, if it has one.
     *
     * @throws InvalidListenerException if it is no duration, or out of bounds
     */
    @Nullable Duration timeout(Method method) {
        ExactlyOnceListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExactlyOnceListener.class);
        String text = annotation == null ? "" : placeholders.apply(annotation.timeout());
        return text.isBlank() ? null : HandlerTimeout.parse(text.strip(), method);
    }

    private DoubtPolicy doubt(ExactlyOnceListener annotation, Method method) {
        String name = placeholders.apply(annotation.reconciler());
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
                    "it names the reconciler '%s', but nobody asks it with onAbandoned = %s"
                            .formatted(name, annotation.onAbandoned()),
                    "set onAbandoned = RECONCILE, or leave reconciler out");
        }
        return new DoubtPolicy(
                annotation.onAbandoned(),
                reconciles ? reconcilers.find(name, method) : null,
                List.of(annotation.parkFor()));
    }

    /** Returns whose keys a method's are, or {@code null} for those of its queue. */
    @Nullable String scope(Method method) {
        ExactlyOnceListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExactlyOnceListener.class);
        return annotation == null ? null : scope(annotation, method);
    }

    private @Nullable String scope(ExactlyOnceListener annotation, Method method) {
        String scope = placeholders.apply(annotation.scope());
        if (scope.isBlank()) {
            return null;
        }
        if (scope.length() > ClaimKey.MAX_LENGTH) {
            throw new InvalidListenerException(
                    method,
                    "scope has %d characters, more than %d".formatted(scope.length(), ClaimKey.MAX_LENGTH),
                    "shorten it");
        }
        if (scope.indexOf('\0') >= 0) {
            throw new InvalidListenerException(
                    method, "scope contains a NUL character, which PostgreSQL cannot store", "remove it");
        }
        return scope;
    }

    /** Asks for the annotation that awspring sees: a plain one on the same method would win. */
    private void requirePreparedContainer(Method method) {
        SqsListener seen = AnnotatedElementUtils.findMergedAnnotation(method, SqsListener.class);
        String factory = seen == null ? "" : placeholders.apply(seen.factory());
        if (!preparing.test(factory)) {
            throw new InvalidListenerException(
                    method,
                    "its container factory '%s' does not prepare containers for exactly-once handling"
                            .formatted(factory.isEmpty() ? "(awspring's default)" : factory),
                    "leave the factory attribute out, and @SqsListener off the method: the application's default container "
                            + "factory is used underneath");
        }
    }

    private static void requireSupportedShape(Method method) {
        List<Class<?>> parameters = Arrays.asList(method.getParameterTypes());
        if (Collections.frequency(parameters, Claim.class) > 1) {
            throw new InvalidListenerException(method, "it takes more than one Claim", "take it once");
        }
        if (BatchShape.isBatch(method)) {
            BatchShape.of(method);
            requireEffectsElsewhere(method);
        }
    }

    private static void requireEffectsElsewhere(Method method) {
        ExactlyOnceListener annotation = AnnotatedElementUtils.findMergedAnnotation(method, ExactlyOnceListener.class);
        if (annotation != null && annotation.effects() == Effects.DATABASE) {
            throw new InvalidListenerException(
                    method,
                    "effects = DATABASE is for single messages: each has a transaction of its own",
                    "take a single message, or leave effects out");
        }
    }

    private static void requireAdvised(Object bean, Method method) {
        if (!isAdvised(bean)) {
            throw new InvalidListenerException(
                    method,
                    "its bean has no proxy that could claim keys, so the handler would run unclaimed",
                    "make the class non-final and the bean an ordinary Spring bean");
        }
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isFinal(modifiers) || Modifier.isStatic(modifiers)) {
            throw new InvalidListenerException(
                    method,
                    "a private, final or static method bypasses the proxy, so the handler would run unclaimed",
                    "make it a non-final instance method that is not private");
        }
    }

    private static boolean isAdvised(Object bean) {
        return bean instanceof Advised advised
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(advisor -> advisor.getAdvice() instanceof ExactlyOnceInterceptor);
    }
}
