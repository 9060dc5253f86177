package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A call of a listener's method by code other than a container. Such a call has no delivery, so there is no key to
 * claim.
 */
final class DirectCall {

    private static final @Nullable Method MOCKING_DETAILS = mockito("mockingDetails", "org.mockito.Mockito");

    private static final @Nullable Method IS_MOCK = mockito("isMock", "org.mockito.MockingDetails");

    private DirectCall() {}

    /**
     * Makes the call if the bean is a mock or spy of Mockito, because a test must call the bean's proxy to stub it.
     * Rejects all other direct calls.
     *
     * @throws IllegalStateException if the bean is not a mock or spy of Mockito
     */
    static @Nullable Object make(MethodInvocation call) throws Throwable {
        if (isMock(call.getThis())) {
            return call.proceed();
        }
        throw new IllegalStateException(
                ("%s was called without a delivery (on thread '%s'), so there is no key to claim. To run its work outside of its queue, "
                                + "move the work to another bean, and call it within ExactlyOnceOperations.once(scope, key), with the "
                                + "listener's scope and key. In a test, deliver a message with ExactlyOnceDriver, or call the "
                                + "bean without its advice: AopTestUtils.getUltimateTargetObject(bean)")
                        .formatted(
                                ClassUtils.getQualifiedMethodName(call.getMethod()),
                                Thread.currentThread().getName()));
    }

    private static boolean isMock(@Nullable Object target) {
        Object behind = target;
        for (Object next = target; next != null; next = AopProxyUtils.getSingletonTarget(next)) {
            behind = next;
        }
        if (behind == null || MOCKING_DETAILS == null || IS_MOCK == null) {
            return false;
        }
        Object details = ReflectionUtils.invokeMethod(MOCKING_DETAILS, null, behind);
        return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(IS_MOCK, details));
    }

    private static @Nullable Method mockito(String name, String type) {
        ClassLoader loader = DirectCall.class.getClassLoader();
        return ClassUtils.isPresent(type, loader)
                ? ReflectionUtils.findMethod(ClassUtils.resolveClassName(type, loader), name, (Class<?>[]) null)
                : null;
    }
}
