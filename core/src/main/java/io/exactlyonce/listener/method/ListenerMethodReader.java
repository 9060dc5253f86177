package io.exactlyonce.listener.method;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.Reconciler;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.UnsupportedTransactionException;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.pipeline.TypedReconciler;
import io.exactlyonce.listener.expression.HandlerArguments;
import io.exactlyonce.listener.expression.HandlerSignature;
import io.exactlyonce.listener.expression.KeyExpression;
import io.exactlyonce.listener.expression.Purpose;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.queue.VisibilityWindow;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.core.ResolvableType;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;

/**
 * Reads {@link ExactlyOnceListener} methods at startup, and finds the beans that they name. Rejects methods that
 * violate {@link ListenerRules}.
 *
 * @param beans contains reconcilers and transaction managers
 * @param modes the listeners' configuration
 */
public record ListenerMethodReader(BeanFactory beans, ListenerModes modes, ClaimTransaction.Factory transactions) {

    private static final String PREPARE =
            "pass '%1$s' to ExactlyOnceContainerFactoryConfigurer#prepare, which keeps its error handler, interceptors and "
                    + "options, in a second bean, and name that one in factory: @Bean ExactlyOnceContainerFactory "
                    + "prepared(ExactlyOnceContainerFactoryConfigurer configurer, @Qualifier(\"%1$s\") "
                    + "SqsMessageListenerContainerFactory<?> original) { return configurer.prepare(original); }";

    /**
     * Checks a method, and reads its annotation and configuration.
     *
     * @param bean the bean that the container calls, usually a proxy
     * @param handler the object through which Spring Cloud AWS calls the method
     * @param resolvers make the method's arguments; empty if they are not known
     * @throws InvalidListenerException if the method violates a rule, or names a bean that does not exist
     */
    ListenerMethod read(
            Object bean,
            ListenerDeclaration declared,
            InvocableHandlerMethod handler,
            List<HandlerMethodArgumentResolver> resolvers) {
        Method method = declared.method();
        ListenerRules rules = new ListenerRules(
                declared, ResolvableType.forMethodParameter(handler.getReturnType()), modes.properties());
        boolean isObserved = modes.isObserved(declared);
        boolean signalsCompletion = true;
        if (isObserved) {
            signalsCompletion = rules.checkObserved(AopUtils.getTargetClass(bean));
            ListenerRules.isFit(() -> rules.requireFit(modes.whenKeyMissing(declared)));
        } else {
            rules.requireFit(bean);
            rules.requireFit(modes.whenKeyMissing(declared));
        }
        Supplier<HandlerSignature> seen = () -> handler(bean, declared, handler, resolvers);
        Supplier<HandlerArguments> arguments = () -> new HandlerArguments(
                seen.get(), ListenerRules.isBatch(method), ListenerRules.list(method), declared::refused);
        return new ListenerMethod(
                method,
                declared.annotation(),
                isObserved,
                signalsCompletion,
                !isObserved && rules.isAsync(),
                ListenerRules.isBatch(method),
                payload(new Payloads(declared, List.of(handler.getMethodParameters()), resolvers), isObserved),
                expression(Purpose.KEY, declared.annotation().key(), arguments),
                expression(Purpose.FINGERPRINT, declared.annotation().fingerprint(), arguments),
                scope(declared),
                isObserved ? null : timeout(declared),
                isObserved ? InDoubtSettings.RERUN : doubt(declared, seen, rules.storedResult()),
                isObserved ? null : transaction(bean, declared),
                modes.onMismatch(declared),
                modes.whenKeyMissing(declared));
    }

    /**
     * Returns the type of payloads. For an observed listener, an unsupported type is only logged, because Spring Cloud
     * AWS reads the payloads in its own way.
     */
    private static @Nullable PayloadType payload(Payloads payloads, boolean isObserved) {
        if (!isObserved) {
            return payloads.type();
        }
        AtomicReference<@Nullable PayloadType> type = new AtomicReference<>();
        ListenerRules.isFit(() -> type.set(payloads.type()));
        return type.get();
    }

    private String resolve(String attribute) {
        return modes.properties().resolveRequiredPlaceholders(attribute);
    }

    /** Returns the expression that an annotation's attribute contains; {@code null} if the attribute is blank. */
    private @Nullable KeyExpression expression(Purpose purpose, String said, Supplier<HandlerArguments> arguments) {
        String text = resolve(said);
        return text.isBlank() ? null : new KeyExpression(purpose, text, arguments.get(), beans);
    }

    private HandlerSignature handler(
            Object bean,
            ListenerDeclaration declared,
            InvocableHandlerMethod handler,
            List<HandlerMethodArgumentResolver> resolvers) {
        return HandlerSignature.of(
                AopUtils.getTargetClass(bean),
                declared.method(),
                handler.getMethodParameters(),
                resolvers,
                this::resolveInHeaders);
    }

    /** Replaces placeholders such as {@code ${region}} in a header's name, as Spring does. */
    private String resolveInHeaders(String name) {
        if (!(beans instanceof ConfigurableBeanFactory configurable)) {
            return name;
        }
        String resolved = new EmbeddedValueResolver(configurable).resolveStringValue(name);
        return resolved == null ? "" : resolved;
    }

    /** Returns the exception for a listener whose container factory is not prepared to claim keys. */
    InvalidListenerException unprepared(ListenerDeclaration declared) {
        String factory = resolve(declared.seen().factory());
        return factory.isEmpty()
                ? declared.refused(
                        "an @SqsListener beside it wins, whose container factory does not prepare containers for exactly-once handling",
                        "move the attributes of @SqsListener to @ExactlyOnceListener, and leave @SqsListener off")
                : declared.refused(
                        "its container factory '%s' does not prepare containers for exactly-once handling"
                                .formatted(factory),
                        PREPARE.formatted(factory));
    }

    private @Nullable String scope(ListenerDeclaration declared) {
        String scope = resolve(declared.annotation().scope());
        if (scope.isBlank()) {
            return null;
        }
        declared.refuseIf(
                scope.contains("#{"),
                "its scope '%s' has an expression #{...}, which is not evaluated".formatted(scope),
                "use a placeholder, such as scope = \"orders-${region}\", or set a fixed scope");
        try {
            return KeyRules.key(scope, "any").scope();
        } catch (IllegalArgumentException unfit) {
            throw declared.refused("its " + unfit.getMessage(), "choose another scope");
        }
    }

    private @Nullable Duration timeout(ListenerDeclaration declared) {
        Duration configured = modes.own(declared).timeout();
        if (configured != null) {
            return configured;
        }
        String text = resolve(declared.annotation().timeout()).strip();
        if (text.isEmpty()) {
            return null;
        }
        Duration timeout;
        try {
            timeout = DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException | ArithmeticException unreadable) {
            timeout = Duration.ZERO;
        }
        declared.refuseIf(
                timeout.compareTo(VisibilityWindow.SHORTEST) < 0 || timeout.compareTo(VisibilityWindow.CEILING) > 0,
                "its timeout '%s' is not a duration from %s to %s"
                        .formatted(text, print(VisibilityWindow.SHORTEST), print(VisibilityWindow.CEILING)),
                "write a number with a unit, such as 90s or 5m, or leave the timeout out");
        return timeout;
    }

    private static String print(Duration bound) {
        return DurationFormatterUtils.print(bound, DurationFormat.Style.COMPOSITE);
    }

    private InDoubtSettings doubt(
            ListenerDeclaration declared, Supplier<HandlerSignature> handler, ResolvableType result) {
        ExactlyOnceListener says = declared.annotation();
        return new InDoubtSettings(
                says.whenInDoubt(),
                says.whenInDoubt() == InDoubtPolicy.RECONCILE ? reconciler(declared, handler.get(), result) : null,
                List.of(says.parkFor()),
                maxAttempts(declared));
    }

    private int maxAttempts(ListenerDeclaration declared) {
        Integer configured = modes.own(declared).maxAttempts();
        return configured == null ? declared.annotation().maxAttempts() : configured;
    }

    private TypedReconciler reconciler(ListenerDeclaration declared, HandlerSignature handler, ResolvableType result) {
        Method method = declared.method();
        TypedReconciler reconciler = new TypedReconciler(
                bean(
                        declared,
                        "whenInDoubt = RECONCILE",
                        resolve(declared.annotation().reconciler()),
                        Reconciler.class,
                        "define one; if there are several, mark one as @Primary or name it in the attribute reconciler"),
                HandlerArguments.payloadOf(
                        handler, ListenerRules.isBatch(method), ListenerRules.list(method), declared::refused),
                result);
        ResolvableType unfit = reconciler.unfitType();
        declared.refuseIf(
                unfit != null,
                "its reconciler %s finds results of type %s, and the method returns %s"
                        .formatted(
                                AopUtils.getTargetClass(reconciler.reconciler()).getName(), unfit, result),
                "let the reconciler be a Reconciler<%s>, or name another one in the attribute reconciler"
                        .formatted(result));
        return reconciler;
    }

    private <T> T bean(ListenerDeclaration declared, String attribute, String name, Class<T> type, String remedy) {
        try {
            return name.isBlank() ? beans.getBean(type) : beans.getBean(name, type);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException absent) {
            throw new InvalidListenerException(
                    declared.method(),
                    "%s needs a bean of type %s: %s".formatted(attribute, type.getName(), absent.getMessage()),
                    remedy,
                    absent);
        }
    }

    private @Nullable ClaimTransaction transaction(Object bean, ListenerDeclaration declared) {
        if (declared.annotation().effects() == Effects.EXTERNAL) {
            return null;
        }
        String name = resolve(declared.annotation().transactionManager());
        PlatformTransactionManager manager = bean(
                declared,
                "effects = DATABASE",
                name,
                PlatformTransactionManager.class,
                "name the one whose DataSource the handler writes to, if there are several: transactionManager = \"...\"; or let "
                        + "Spring Boot configure one for spring.datasource.url, or declare a JdbcTransactionManager");
        TransactionAttribute own = new TransactionRules(declared).requireJoining(bean, beans, manager, name);
        try {
            return transactions.create(manager, own, !name.isEmpty());
        } catch (UnsupportedTransactionException unusable) {
            throw new InvalidListenerException(
                    declared.method(), "effects = DATABASE, but " + unusable.problem(), unusable.remedy(), unusable);
        }
    }
}
