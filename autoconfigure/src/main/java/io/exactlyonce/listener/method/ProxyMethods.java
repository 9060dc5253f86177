package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.support.AopUtils;

/**
 * The methods by which listener methods are called: an interface's where the bean has a JDK proxy. The annotation may
 * be on the class's method only, or on the class.
 */
public final class ProxyMethods {

    private final Set<Method> called = ConcurrentHashMap.newKeySet();

    boolean contains(Method method) {
        return called.contains(method);
    }

    /**
     * Returns the method by which a listener method can be called on its bean.
     *
     * @throws InvalidListenerException if the bean's proxy cannot call it, or would resolve other arguments
     */
    Method callable(Object bean, Method method) {
        if (!AopUtils.isJdkDynamicProxy(bean)) {
            called.add(method);
            return method;
        }
        Method found;
        try {
            found = AopUtils.selectInvocableMethod(method, bean.getClass());
        } catch (IllegalStateException absent) {
            throw new InvalidListenerException(
                    method,
                    "its bean's proxy implements interfaces only, and none of them has this method",
                    "declare it in an interface, or remove spring.aop.proxy-target-class=false");
        }
        if (!Arrays.deepEquals(found.getParameterAnnotations(), method.getParameterAnnotations())
                || found.getReturnType() != method.getReturnType()) {
            throw new InvalidListenerException(
                    method,
                    ("its bean's proxy has only the method of the interface %s, which has another return type or other "
                                    + "annotations on its parameters")
                            .formatted(found.getDeclaringClass().getName()),
                    "declare both methods alike, or remove spring.aop.proxy-target-class=false");
        }
        called.add(found);
        return found;
    }
}
