package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.interceptor.NoRollbackRuleAttribute;
import org.springframework.transaction.interceptor.RollbackRuleAttribute;
import org.springframework.transaction.interceptor.RuleBasedTransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.StringUtils;

/**
 * Checks the method's own transaction (for example {@code @Transactional}) if the listener has {@code effects =
 * DATABASE}. Rejects the method in two cases:
 * <ul>
 * <li>Its transaction would begin before the claim's transaction.
 * <li>Its transaction could not join the claim's transaction, because of its settings.
 * </ul>
 */
record TransactionRules(ListenerDeclaration declared) {

    /** Propagations with which the method would not take part in the claim's transaction. */
    private static final Map<Integer, String> LEAVING = Map.of(
            TransactionDefinition.PROPAGATION_REQUIRES_NEW, "REQUIRES_NEW",
            TransactionDefinition.PROPAGATION_NOT_SUPPORTED, "NOT_SUPPORTED",
            TransactionDefinition.PROPAGATION_NEVER, "NEVER");

    private static final String BUT = "effects = DATABASE, but @Transactional";

    /** The settings of the method's own transaction, and the advice that begins it. */
    private record Own(TransactionAttribute attribute, TransactionInterceptor advice, Class<?> type) {}

    /**
     * Returns the method's own transaction; {@code null} if there is none. Rejects a transaction that begins before the
     * claim's transaction, because the method's writes would be committed after the key is completed. If the worker
     * crashed in between, the writes would be lost.
     */
    private @Nullable Own own(Object bean) {
        boolean isWithin = false;
        for (Advisor advisor : ListenerProxies.of(bean).around(declared.method())) {
            isWithin |= advisor instanceof ExactlyOnceAdvisor;
            Own own = advisor.getAdvice() instanceof TransactionInterceptor advice
                    ? own(advice, AopUtils.getTargetClass(bean))
                    : null;
            declared.refuseIf(
                    own != null && !isWithin,
                    "its transaction is begun before its key is claimed, so its writes would be committed after the claim is"
                            + " completed",
                    "give @EnableTransactionManagement an order above %d, for example its default"
                            .formatted(ExactlyOnceAdvisor.ORDER));
            if (own != null) {
                return own;
            }
        }
        return null;
    }

    private @Nullable Own own(TransactionInterceptor advice, Class<?> type) {
        TransactionAttribute attribute = attribute(advice, declared.method(), type);
        return attribute == null ? null : new Own(attribute, advice, type);
    }

    private static @Nullable TransactionAttribute attribute(
            TransactionInterceptor advice, Method method, Class<?> type) {
        TransactionAttributeSource source = advice.getTransactionAttributeSource();
        return source == null ? null : source.getTransactionAttribute(method, type);
    }

    /** Returns whether an advisor begins a transaction around a method, or joins one. */
    static boolean begins(Advisor advisor, Method method, Object target) {
        return advisor.getAdvice() instanceof TransactionInterceptor advice
                && attribute(advice, method, AopUtils.getTargetClass(target)) != null;
    }

    /**
     * Checks that the method's own transaction can join the claim's transaction. The claim's transaction begins first,
     * and its settings cannot be changed later. So it must begin with the method's timeout and isolation level.
     *
     * @param manager begins the claim's transaction
     * @param name the manager's name in the listener's annotation; empty for the default manager
     * @return the settings with which the claim's transaction must begin
     */
    TransactionAttribute requireJoining(
            Object bean, BeanFactory beans, PlatformTransactionManager manager, String name) {
        Own own = own(bean);
        if (own == null) {
            return new DefaultTransactionAttribute();
        }
        TransactionAttribute attribute = own.attribute();
        String leaving = LEAVING.get(attribute.getPropagationBehavior());
        declared.refuseIf(
                leaving != null,
                BUT + ": its propagation %s leaves the transaction of the claim".formatted(leaving),
                "leave @Transactional off the method, or use propagation REQUIRED");
        declared.refuseIf(
                attribute.isReadOnly(), BUT + ": its readOnly refuses the claim's own writes", "leave readOnly out");
        declared.refuseIf(
                attribute.getTimeout() == 0,
                BUT + ": its timeout of 0 s is over before its key is claimed",
                "set at least 1, or leave timeout out");
        String committing = committing(attribute);
        declared.refuseIf(
                !committing.isEmpty(),
                BUT
                        + ": its noRollbackFor (%s) would be ignored, because a handler that throws is rolled back together with its claim"
                                .formatted(committing),
                "leave noRollbackFor out; to keep writes, catch the exception, or write in a method with propagation = REQUIRES_NEW");
        requireManager(own, beans, manager, name);
        return attribute;
    }

    /** Returns the exceptions in {@code noRollbackFor}, separated by commas. */
    private static String committing(TransactionAttribute attribute) {
        List<RollbackRuleAttribute> rules =
                attribute instanceof RuleBasedTransactionAttribute ruled ? ruled.getRollbackRules() : List.of();
        return rules.stream()
                .filter(NoRollbackRuleAttribute.class::isInstance)
                .map(RollbackRuleAttribute::getExceptionName)
                .collect(Collectors.joining(", "));
    }

    private void requireManager(Own own, BeanFactory beans, PlatformTransactionManager manager, String name) {
        String other = own.attribute().getQualifier();
        if (StringUtils.hasText(other)) {
            declared.refuseIf(
                    named(beans, other) != manager,
                    BUT + ": its transaction manager '%s' is not the one of the claim".formatted(other),
                    "give the listener the same one: transactionManager = \"%s\"".formatted(other));
        } else {
            declared.refuseIf(
                    usual(own, beans) != manager,
                    BUT + " names no transaction manager, and the default one is not the one of the claim",
                    name.isEmpty()
                            ? "name the same one in both: @Transactional(\"...\") and transactionManager = \"...\""
                            : "name it there too: @Transactional(\"%s\")".formatted(name));
        }
    }

    private static TransactionManager named(BeanFactory beans, String name) {
        return BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, name);
    }

    /**
     * Returns the transaction manager for a {@code @Transactional} that names none; {@code null} if there are several
     * managers.
     */
    private static @Nullable TransactionManager usual(Own own, BeanFactory beans) {
        String ofType = BeanFactoryAnnotationUtils.getQualifierValue(own.type());
        if (StringUtils.hasText(ofType)) {
            try {
                return named(beans, ofType);
            } catch (NoSuchBeanDefinitionException none) {
                // No transaction manager has this qualifier, which may be meant for other beans. So the usual manager
                // is used.
            }
        }
        TransactionManager configured = own.advice().getTransactionManager();
        return configured != null
                ? configured
                : beans.getBeanProvider(TransactionManager.class).getIfUnique();
    }
}
