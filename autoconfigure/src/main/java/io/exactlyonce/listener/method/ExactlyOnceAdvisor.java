package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.sighting.ListenerModes;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Puts the aspect around every {@link ExactlyOnceListener} method, outside of transactions and of nearly everything else:
 * what other advice does must happen under the claim, too.
 */
public final class ExactlyOnceAdvisor extends DefaultPointcutAdvisor {

    /** Position among other advisors; transactions come last by default. */
    public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

    /**
     * Makes an advisor.
     *
     * @param pipeline takes deliveries to handlers; resolved at the first message
     * @param proxies says whether proxies are subclasses, also of beans with interfaces; resolved at the first bean of a class
     *     that is final
     * @param modes say which listeners are only observed: they get no proxy
     */
    public ExactlyOnceAdvisor(
            ObjectFactory<DeliveryPipeline> pipeline, ObjectFactory<ProxyConfig> proxies, ListenerModes modes) {
        super(new ListenerPointcut(proxies, modes), (MethodInterceptor) call -> claimed(call, pipeline));
        setOrder(ORDER);
    }

    /**
     * The gate: calls a listener's method only for deliveries whose keys are held, or claims the keys in the transaction that it
     * calls the method in.
     */
    private static @Nullable Object claimed(MethodInvocation invocation, ObjectFactory<DeliveryPipeline> pipeline)
            throws Throwable {
        CurrentDeliveries current = CurrentDeliveries.take();
        if (current == null) {
            throw new IllegalStateException(
                    "%s was called without a delivery, so there is nothing to claim; only its queue may call it"
                            .formatted(ClassUtils.getQualifiedMethodName(invocation.getMethod())));
        }
        return new ListenerCall(current, invocation).process(pipeline.getObject());
    }

    /** Returns whether beans of a type have {@link ExactlyOnceListener}s, before any of them is made. */
    public static boolean isListener(Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class)) {
            return false;
        }
        if (AnnotatedElementUtils.hasAnnotation(type, ExactlyOnceListener.class)) {
            return true;
        }
        Set<Method> listeners =
                MethodIntrospector.selectMethods(type, (MethodFilter) ListenerMethodReader::isExactlyOnce);
        return !listeners.isEmpty();
    }

    /**
     * Finds listener methods, before their beans are proxied; so it is the place to refuse a method of which Spring, or
     * awspring, would only say that it fails, and not for which listener.
     */
    private static final class ListenerPointcut extends StaticMethodMatcher implements Pointcut {

        private final ComposablePointcut methods = new ComposablePointcut(
                        (Pointcut) new AnnotationMatchingPointcut(null, ExactlyOnceListener.class, true))
                .union((Pointcut) new AnnotationMatchingPointcut(ExactlyOnceListener.class, SqsHandler.class, true));

        private final ObjectFactory<ProxyConfig> proxies;
        private final ListenerModes modes;

        ListenerPointcut(ObjectFactory<ProxyConfig> proxies, ListenerModes modes) {
            this.proxies = proxies;
            this.modes = modes;
        }

        @Override
        public ClassFilter getClassFilter() {
            return methods.getClassFilter();
        }

        @Override
        public MethodMatcher getMethodMatcher() {
            return this;
        }

        @Override
        public boolean matches(Method method, Class<?> type) {
            if (!methods.getMethodMatcher().matches(method, type)) {
                return false;
            }
            ListenerDeclaration declared = ListenerDeclaration.find(type, method);
            if (declared != null && declared.isObserved(modes)) {
                return false;
            }
            requireProxyable(method, type);
            requireQueue(method, declared);
            return true;
        }

        private void requireProxyable(Method method, Class<?> type) {
            if (!Modifier.isFinal(type.getModifiers()) || Proxy.isProxyClass(type) || hasProxyOfInterfaces(type)) {
                return;
            }
            throw new InvalidListenerException(
                    method,
                    "its class %s is %s, of which there can be no proxy that claims keys, so the handler would run unclaimed"
                            .formatted(type.getName(), type.isRecord() ? "a record" : "final"),
                    type.isRecord() ? "make it an ordinary class" : "make the class non-final");
        }

        private boolean hasProxyOfInterfaces(Class<?> type) {
            return !proxies.getObject().isProxyTargetClass() && ClassUtils.getAllInterfacesForClass(type).length > 0;
        }

        private static void requireQueue(Method method, @Nullable ListenerDeclaration declared) {
            if (declared != null && declared.seen().value().length == 0) {
                throw new InvalidListenerException(method, "it names no queue", "set queueNames");
            }
        }
    }
}
