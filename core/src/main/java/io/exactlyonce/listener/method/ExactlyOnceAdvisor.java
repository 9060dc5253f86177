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
 * Adds the three steps of a {@link ListenerInvocation}, as advice, to each {@link ExactlyOnceListener} method that
 * claims keys. This advisor itself is the second step. Spring adds it to the bean's proxy, before transactions and
 * nearly all other advice. When Spring Cloud AWS reads the listener, {@link #enclose} adds the first step before all
 * advice of the bean, and the last step after all advice.
 */
public final class ExactlyOnceAdvisor extends StaticMethodMatcherPointcutAdvisor implements BeanFactoryAware {

    /**
     * The position of the second step among other advice. By default, transactions come later, so they begin inside of
     * this step.
     */
    public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

    private final transient ListenerModes modes;
    private final Advisor first;
    private final Advisor last;
    private final Advisor again;
    private transient @Nullable BeanFactory beans;

    /** A step of an invocation. */
    @FunctionalInterface
    private interface Step {

        @Nullable Object take(ListenerInvocation invocation, MethodInvocation call) throws Throwable;
    }

    /**
     * @param pipeline passes deliveries to handlers; created at the first message
     * @param modes the modes of listeners; observed listeners get no steps
     */
    public ExactlyOnceAdvisor(ObjectFactory<DeliveryPipeline> pipeline, ListenerModes modes) {
        this.modes = modes;
        first = step((invocation, call) -> invocation.hasReachedAdvice()
                ? call.proceed()
                : answer(invocation.begin(call, pipeline.getObject()), call));
        setAdvice(advice((invocation, call) -> answer(invocation.claim(call), call)));
        last = step(ListenerInvocation::call);
        again = step(ListenerInvocation::call);
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

    /**
     * Replaces {@code null} by zero or false if the method's return type is primitive. A proxy cannot return {@code
     * null} for such a type.
     */
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

    /**
     * Adds the first step before all advice of each of the bean's proxies, and the last step behind it. Does nothing if
     * they are there already.
     *
     * <p>In inner proxies, the first step only makes the invocation known to later steps, which may run on another
     * thread. The last step is added twice, because it does not proceed: if advice proceeds a second time with the same
     * call object, Spring continues behind the step that it has called last.
     */
    void enclose(ListenerProxies proxies) {
        for (Advised proxy : proxies.all()) {
            if (proxy.indexOf(first) < 0) {
                proxy.addAdvisor(0, first);
            }
            if (proxy.indexOf(last) < 0) {
                proxy.addAdvisor(last);
                proxy.addAdvisor(again);
            }
        }
    }

    /** Returns whether a class has an {@link ExactlyOnceListener}. */
    public static boolean isListener(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class)
                && (AnnotatedElementUtils.hasAnnotation(type, ExactlyOnceListener.class)
                        || !MethodIntrospector.selectMethods(type, (MethodFilter) ListenerDeclaration::isAnnotated)
                                .isEmpty());
    }

    /**
     * Returns whether a method is a listener that claims keys. Spring calls this method before it creates the bean's
     * proxy. Some invalid listeners are rejected here, because Spring would fail later with an error that does not name
     * the listener.
     */
    @Override
    public boolean matches(Method method, Class<?> type) {
        // Spring may pass the method of an interface, but the annotation may be on the method of the class.
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
