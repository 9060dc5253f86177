package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Puts the steps of a {@link ListenerInvocation} around every {@link ExactlyOnceListener} method. This advisor is the
 * step that claims, outside of transactions and of nearly all other advice. When a listener is read, its bean's proxies
 * also get the first and the last step, around all advice that exists by then.
 */
public final class ExactlyOnceAdvisor extends StaticMethodMatcherPointcutAdvisor implements BeanFactoryAware {

    /** Position among other advisors; transactions come last by default. */
    public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

    private final transient ListenerModes modes;
    private final Advisor first;
    private final Advisor last;
    private transient @Nullable BeanFactory beans;

    /** A step of an invocation. */
    @FunctionalInterface
    private interface Step {

        @Nullable Object take(ListenerInvocation invocation, MethodInvocation call) throws Throwable;
    }

    /**
     * Makes an advisor.
     *
     * @param pipeline takes deliveries to handlers; resolved at the first message
     * @param modes the listeners' modes: beans of observed listeners get no proxy
     */
    public ExactlyOnceAdvisor(ObjectFactory<DeliveryPipeline> pipeline, ListenerModes modes) {
        this.modes = modes;
        first = step((invocation, call) -> answer(invocation.begin(call, pipeline.getObject()), call));
        setAdvice(advice((invocation, call) -> answer(invocation.claim(call), call)));
        last = step(ListenerInvocation::call);
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class));
        setOrder(ORDER);
    }

    private Advisor step(Step step) {
        return new DefaultPointcutAdvisor(this, advice(step));
    }

    private static MethodInterceptor advice(Step step) {
        return call -> {
            ListenerInvocation invocation = ListenerInvocation.of(call);
            return invocation == null ? DirectCall.make(call) : step.take(invocation, call);
        };
    }

    /** Replaces null by zero where the method returns a number, because a proxy cannot return null for it. */
    private static @Nullable Object answer(@Nullable Object answer, MethodInvocation call) {
        Class<?> type = call.getMethod().getReturnType();
        return answer == null && type.isPrimitive() && type != void.class
                ? Array.get(Array.newInstance(type, 1), 0)
                : answer;
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        this.beans = beans;
    }

    /** Puts the first and the last step around all advice of a listener's bean, once. */
    void enclose(ListenerProxies proxies) {
        Advised outermost = proxies.all().get(0);
        if (outermost.indexOf(first) < 0) {
            outermost.addAdvisor(0, first);
        }
        for (Advised proxy : proxies.all()) {
            if (proxy.indexOf(last) < 0) {
                proxy.addAdvisor(last);
            }
        }
    }

    /** Returns whether beans of a type have {@link ExactlyOnceListener}s, before any of them is made. */
    public static boolean isListener(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class)
                && (AnnotatedElementUtils.hasAnnotation(type, ExactlyOnceListener.class)
                        || !MethodIntrospector.selectMethods(type, (MethodFilter) ListenerDeclaration::isAnnotated)
                                .isEmpty());
    }

    /**
     * Finds listener methods before their beans are proxied, by their classes. It rejects methods whose later failure
     * in Spring or Spring Cloud AWS would not name the listener.
     */
    @Override
    public boolean matches(Method method, Class<?> type) {
        // An interface's method may lack the annotation.
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
