package io.exactlyonce.listener.method;

import java.util.Map;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Rejects a listener method whose own transaction would begin before its claim, or would not join the transaction of
 * its claim.
 */
record TransactionRules(ListenerDeclaration declared) {

    /** The propagations that leave an open transaction, or refuse to work in one. */
    private static final Map<Integer, String> LEAVING = Map.of(
            TransactionDefinition.PROPAGATION_REQUIRES_NEW, "REQUIRES_NEW",
            TransactionDefinition.PROPAGATION_NOT_SUPPORTED, "NOT_SUPPORTED",
            TransactionDefinition.PROPAGATION_NEVER, "NEVER");

    /**
     * Returns the transaction that the application's own advice begins within the claim, whatever annotation or configuration it
     * comes from; {@code null} if there is none. Begun before the claim, it would be committed after the claim is completed.
     */
    @Nullable TransactionAttribute of(Object bean) {
        boolean isWithin = false;
        for (Advisor advisor : ((Advised) bean).getAdvisors()) {
            isWithin |= advisor instanceof ExactlyOnceAdvisor;
            TransactionAttribute attribute = attribute(advisor.getAdvice(), AopUtils.getTargetClass(bean));
            declared.refuseIf(
                    attribute != null && !isWithin,
                    "its transaction is begun before its key is claimed, so its writes would be committed after the claim is"
                            + " completed",
                    "give @EnableTransactionManagement an order above %d, for example its default"
                            .formatted(ExactlyOnceAdvisor.ORDER));
            if (attribute != null) {
                return attribute;
            }
        }
        return null;
    }

    private @Nullable TransactionAttribute attribute(Advice advice, Class<?> type) {
        TransactionAttributeSource source = advice instanceof TransactionInterceptor transactions
                ? transactions.getTransactionAttributeSource()
                : null;
        return source == null ? null : source.getTransactionAttribute(declared.method(), type);
    }

    /** @param manager begins the claim's transaction, which a transaction of the method's own must join */
    void requireJoining(Object bean, BeanFactory beans, PlatformTransactionManager manager) {
        TransactionAttribute own = of(bean);
        if (own == null) {
            return;
        }
        String but = "effects = DATABASE, but @Transactional: its ";
        String leaving = LEAVING.get(own.getPropagationBehavior());
        declared.refuseIf(
                leaving != null,
                but + "propagation %s leaves the transaction of the claim".formatted(leaving),
                "leave @Transactional off the method, or use propagation REQUIRED");
        declared.refuseIf(
                own.getIsolationLevel() != TransactionDefinition.ISOLATION_DEFAULT || own.isReadOnly(),
                but + "isolation level or readOnly cannot be applied after the claim's transaction has begun",
                "leave them out; set the isolation level on the DataSource");
        String other = own.getQualifier() == null ? "" : own.getQualifier();
        declared.refuseIf(
                !other.isEmpty()
                        && BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, other)
                                != manager,
                but + "transaction manager '%s' is not the one of the claim".formatted(other),
                "give the listener the same one: transactionManager = \"%s\"".formatted(other));
    }
}
