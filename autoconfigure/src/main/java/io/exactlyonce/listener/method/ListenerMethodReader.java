package io.exactlyonce.listener.method;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Reads {@link ExactlyOnceListener} methods, and refuses those whose handlers could run unclaimed. */
public final class ListenerMethodReader {

    private static final Logger log = LoggerFactory.getLogger(ListenerMethodReader.class);

    private final UnaryOperator<String> placeholders;
    private final Predicate<String> preparing;
    private final Reconcilers reconcilers;
    private final ResultSerializer results;
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
    public ListenerMethodReader(
            UnaryOperator<String> placeholders,
            Predicate<String> preparing,
            Reconcilers reconcilers,
            HandlerTransactions transactions,
            ResultSerializer results) {
        this.placeholders = placeholders;
        this.preparing = preparing;
        this.reconcilers = reconcilers;
        this.transactions = transactions;
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
     * @throws InvalidListenerException if the method cannot be handled exactly once
     */
    ListenerMethod read(Object bean, ListenerDeclaration declared, Class<?> returned) {
        Method method = declared.method();
        ExactlyOnceListener annotation = declared.annotation();
        requirePreparedContainer(declared);
        HandlerRules.requireSupportedShape(declared, returned);
        AcknowledgementRules.require(method, declared.seen(), placeholders);
        HandlerRules.requireAdvised(bean, method);
        TransactionAdvice advice = TransactionAdvice.of(bean, method);
        advice.requireInside();
        String manager = placeholders.apply(annotation.transactionManager());
        return new ListenerMethod(
                method,
                AsyncResults.typeOf(method, returned),
                key(annotation, method),
                scope(declared),
                doubt(annotation, method),
                transactions.find(method, annotation.effects(), manager, advice),
                results);
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
    @Nullable Duration timeout(ListenerDeclaration declared) {
        String text = placeholders.apply(declared.annotation().timeout());
        return text.isBlank() ? null : HandlerTimeout.parse(text.strip(), declared.method());
    }

    private InDoubtPolicy doubt(ExactlyOnceListener annotation, Method method) {
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
        return new InDoubtPolicy(
                annotation.onAbandoned(),
                reconciles ? reconcilers.find(name, method) : null,
                List.of(annotation.parkFor()));
    }

    /** Returns whose keys a method's are, or {@code null} for those of its queue. */
    @Nullable String scope(ListenerDeclaration declared) {
        String scope = placeholders.apply(declared.annotation().scope());
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
        String factory = placeholders.apply(declared.seen().factory());
        if (!preparing.test(factory)) {
            throw new InvalidListenerException(
                    declared.method(),
                    "its container factory '%s' does not prepare containers for exactly-once handling"
                            .formatted(factory.isEmpty() ? "(awspring's default)" : factory),
                    "leave the factory attribute out, and @SqsListener off the method: the application's default container "
                            + "factory is used underneath");
        }
    }
}
