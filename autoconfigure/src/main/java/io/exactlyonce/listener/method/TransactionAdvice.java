package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
 * What the application's own transaction advice does to a listener method: as the bean's proxy has it, whatever
 * annotation or configuration it comes from.
 *
 * @param method the listener method
 * @param attribute the method's transaction; {@code null} if it has none
 * @param outside whether that transaction is begun before the key is claimed
 */
record TransactionAdvice(Method method, @Nullable TransactionAttribute attribute, boolean outside) {

    /** The propagations that leave an open transaction, or refuse to work in one. */
    private static final Map<Integer, String> LEAVING = Map.of(
            TransactionDefinition.PROPAGATION_REQUIRES_NEW, "REQUIRES_NEW",
            TransactionDefinition.PROPAGATION_NOT_SUPPORTED, "NOT_SUPPORTED",
            TransactionDefinition.PROPAGATION_NEVER, "NEVER");

    static TransactionAdvice of(Object bean, Method method) {
        if (!(bean instanceof Advised advised)) {
            return new TransactionAdvice(method, null, false);
        }
        Class<?> type = AopUtils.getTargetClass(bean);
        boolean outside = true;
        List<Advisor> advisors = Arrays.asList(advised.getAdvisors());
        for (Advisor advisor : advisors) {
            if (advisor instanceof ExactlyOnceAdvisor) {
                outside = false;
            }
            TransactionAttribute attribute = attribute(advisor, method, type);
            if (attribute != null) {
                return new TransactionAdvice(method, attribute, outside);
            }
        }
        return new TransactionAdvice(method, null, false);
    }

    private static @Nullable TransactionAttribute attribute(Advisor advisor, Method method, Class<?> type) {
        if (!(advisor.getAdvice() instanceof TransactionInterceptor interceptor)) {
            return null;
        }
        TransactionAttributeSource source = interceptor.getTransactionAttributeSource();
        return source == null ? null : source.getTransactionAttribute(method, type);
    }

    /** Otherwise the claim would be completed before the handler's writes are committed. */
    void requireInside() {
        if (outside) {
            throw new InvalidListenerException(
                    method,
                    "its transaction is begun before its key is claimed, so its writes would be committed after the claim is"
                            + " completed",
                    "give @EnableTransactionManagement an order above %d, for example its default"
                            .formatted(ExactlyOnceAdvisor.ORDER));
        }
    }

    /** @param manager begins the transaction that the method must join */
    void requireJoining(BeanFactory beans, PlatformTransactionManager manager) {
        if (attribute == null) {
            return;
        }
        String leaving = LEAVING.get(attribute.getPropagationBehavior());
        if (leaving != null) {
            throw refused(
                    "its propagation %s leaves the transaction of the claim".formatted(leaving),
                    "leave @Transactional off the method, or use propagation REQUIRED");
        }
        if (attribute.getIsolationLevel() != TransactionDefinition.ISOLATION_DEFAULT || attribute.isReadOnly()) {
            throw refused(
                    "its isolation level or readOnly cannot be applied any more when the claim's transaction has begun",
                    "leave them out; set the isolation level on the DataSource");
        }
        String other = attribute.getQualifier();
        if (other != null && !other.isEmpty() && qualified(beans, other) != manager) {
            throw refused(
                    "its transaction manager '%s' is not the one of the claim".formatted(other),
                    "give the listener the same one: transactionManager = \"%s\"".formatted(other));
        }
    }

    private static TransactionManager qualified(BeanFactory beans, String qualifier) {
        return BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, qualifier);
    }

    private InvalidListenerException refused(String problem, String remedy) {
        return new InvalidListenerException(method, "effects = DATABASE, but @Transactional: " + problem, remedy);
    }
}
