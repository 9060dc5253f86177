package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Puts the aspect around every {@link ExactlyOnceListener} method, outside of transactions and of nearly all other
 * advice, which must also run under the claim.
 */
public final class ExactlyOnceAdvisor extends StaticMethodMatcherPointcutAdvisor implements BeanFactoryAware {

    /** Position among other advisors; transactions come last by default. */
    public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

    private final ListenerModes modes;
    private @Nullable BeanFactory beans;

    /**
     * Makes an advisor.
     *
     * @param pipeline takes deliveries to handlers; resolved at the first message
     * @param modes the listeners' modes: observed ones get no proxy
     */
    public ExactlyOnceAdvisor(ObjectFactory<DeliveryPipeline> pipeline, ListenerModes modes) {
        this.modes = modes;
        setAdvice((MethodInterceptor) invocation -> claimed(invocation, pipeline));
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class));
        setOrder(ORDER);
    }

    /**
     * The gate: calls a listener's method only for deliveries whose keys are held, or claims the keys in the transaction that it
     * calls the method in.
     */
    private static @Nullable Object claimed(MethodInvocation invocation, ObjectFactory<DeliveryPipeline> pipeline)
            throws Throwable {
        ListenerCall call = ListenerCall.take();
        if (call == null) {
            throw new IllegalStateException(
                    "%s was called without a delivery, so there is nothing to claim; only its queue may call it"
                            .formatted(ClassUtils.getQualifiedMethodName(invocation.getMethod())));
        }
        Object answer = call.make(invocation, pipeline);
        Class<?> type = invocation.getMethod().getReturnType();
        // A proxy cannot return null in the place of a number.
        return answer == null && type.isPrimitive() && type != void.class
                ? Array.get(Array.newInstance(type, 1), 0)
                : answer;
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        this.beans = beans;
    }

    /** Returns whether beans of a type have {@link ExactlyOnceListener}s, before any of them is made. */
    public static boolean isListener(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class)
                && (AnnotatedElementUtils.hasAnnotation(type, ExactlyOnceListener.class)
                        || !MethodIntrospector.selectMethods(type, (MethodFilter) ListenerDeclaration::isAnnotated)
                                .isEmpty());
    }

    /**
     * Finds listener methods before their beans are proxied, by their classes. It rejects methods whose later failure in Spring or
     * Spring Cloud AWS would not name the listener.
     */
    @Override
    public boolean matches(Method method, Class<?> type) {
        // An interface's method need not have the annotation.
        ListenerDeclaration declared = ListenerDeclaration.find(type, AopUtils.getMostSpecificMethod(method, type));
        if (declared == null || modes.isObserved(declared)) {
            return false;
        }
        ListenerRules.requireProxyable(declared, type);
        ListenerProxies.requireOthersFit(declared, type, modes);
        declared.refuseIf(declared.seen().value().length == 0, "it names no queue", "set queueNames");
        if (beans != null) {
            ListenerProxies.extendClass(beans);
        }
        return true;
    }
}
