package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.ExactlyOnceListener;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.function.BooleanSupplier;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.MethodMatcher;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.StaticMethodMatcher;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.util.ClassUtils;

/**
 * Finds listener methods, before their beans are proxied; so it is the place to refuse those of which Spring, or awspring,
 * would only say that they fail, and not for which listener.
 */
final class ListenerPointcut extends StaticMethodMatcher implements Pointcut {

    private final ComposablePointcut methods = new ComposablePointcut(
                    (Pointcut) new AnnotationMatchingPointcut(null, ExactlyOnceListener.class, true))
            .union((Pointcut) new AnnotationMatchingPointcut(ExactlyOnceListener.class, SqsHandler.class, true));
    private final BooleanSupplier classProxies;

    /** @param classProxies whether proxies are subclasses, also of beans with interfaces */
    ListenerPointcut(BooleanSupplier classProxies) {
        this.classProxies = classProxies;
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
        requireProxyable(method, type);
        requireQueue(method, type);
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
        return !classProxies.getAsBoolean() && ClassUtils.getAllInterfacesForClass(type).length > 0;
    }

    private static void requireQueue(Method method, Class<?> type) {
        ListenerDeclaration declared = ListenerDeclaration.find(type, method);
        if (declared != null && declared.seen().value().length == 0) {
            throw new InvalidListenerException(method, "it names no queue", "set queueNames");
        }
    }
}
