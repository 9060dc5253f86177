package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Makes handler methods as the application's own factory does, and wraps only the methods of {@link
 * io.exactlyonce.ExactlyOnceListener}s. It is a {@link DefaultMessageHandlerMethodFactory} since awspring
 * configures no other; what it is configured with goes on to the original.
 */
public final class DeliveryHandlerMethodFactory extends DefaultMessageHandlerMethodFactory {

    private final MessageHandlerMethodFactory original;
    private final ListenerMethodReader methods;
    private final ClaimArgumentResolver claims;

    /** Those that the original asks, too; none if it is of the application's own kind. */
    private List<HandlerMethodArgumentResolver> resolvers = List.of();

    /**
     * Makes a factory.
     *
     * @param original makes the handler methods
     * @param methods reads listeners
     * @param claims learns of the methods whose claims it keeps a place for
     */
    public DeliveryHandlerMethodFactory(
            MessageHandlerMethodFactory original, ListenerMethodReader methods, ClaimArgumentResolver claims) {
        this.original = original;
        this.methods = methods;
        this.claims = claims;
    }

    @Override
    public void setArgumentResolvers(@Nullable List<HandlerMethodArgumentResolver> given) {
        if (original instanceof DefaultMessageHandlerMethodFactory configurable) {
            configurable.setArgumentResolvers(given);
            resolvers = given == null ? List.of() : List.copyOf(given);
        }
    }

    @Override
    public void afterPropertiesSet() {
        if (original instanceof DefaultMessageHandlerMethodFactory configurable) {
            configurable.afterPropertiesSet();
        }
    }

    @Override
    public InvocableHandlerMethod createInvocableHandlerMethod(Object bean, Method method) {
        ListenerDeclaration declared = ListenerDeclaration.find(AopUtils.getTargetClass(bean), method);
        if (declared == null) {
            return original.createInvocableHandlerMethod(bean, method);
        }
        if (methods.isObserved(declared)) {
            return observed(bean, declared);
        }
        // An interface's where the bean has a JDK proxy.
        Method callable =
                AopUtils.isJdkDynamicProxy(bean) ? AopUtils.selectInvocableMethod(method, bean.getClass()) : method;
        claims.addListener(callable);
        InvocableHandlerMethod handler = original.createInvocableHandlerMethod(bean, callable);
        ListenerMethod read = methods.read(
                bean,
                declared,
                handler.getReturnType().getParameterType(),
                new KeyArguments(method, handler.getMethodParameters(), resolvers));
        DeliveryHandlerMethod made = new DeliveryHandlerMethod(handler, read);
        ContainerSettings.complete(made, methods.timeout(declared), declared.annotation());
        return made;
    }

    /** Returns what awspring would call without us; the container's settings learn how to read the keys of its messages. */
    private InvocableHandlerMethod observed(Object bean, ListenerDeclaration declared) {
        Method method = declared.method();
        InvocableHandlerMethod handler = original.createInvocableHandlerMethod(bean, method);
        ListenerMethod read =
                methods.readObserved(declared, new KeyArguments(method, handler.getMethodParameters(), resolvers));
        ContainerSettings.observe(
                new DeliveryHandlerMethod(handler, read),
                declared.annotation(),
                methods.tellRefusals(declared, handler.getReturnType().getParameterType()));
        return handler;
    }
}
