package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Creates the handler methods of {@link io.exactlyonce.ExactlyOnceListener}s. The application's own factory creates
 * each method, and this class wraps it. Spring Cloud AWS configures only a {@link DefaultMessageHandlerMethodFactory},
 * so this class extends it, and passes the configuration on.
 */
public final class DeliveryHandlerMethodFactory extends DefaultMessageHandlerMethodFactory {

    private final MessageHandlerMethodFactory original;
    private final ListenerMethodReader methods;

    /** The argument resolvers of the application's factory; empty if they are not known. */
    private List<HandlerMethodArgumentResolver> resolvers = List.of();

    public DeliveryHandlerMethodFactory(MessageHandlerMethodFactory original, ListenerMethodReader methods) {
        this.original = original;
        this.methods = methods;
    }

    /**
     * Passes the argument resolvers on to the application's factory. The application may have removed {@link
     * ClaimArgumentResolver}, which is then added again. It comes first, because Spring Cloud AWS's last resolver takes
     * every parameter.
     */
    @Override
    public void setArgumentResolvers(@Nullable List<HandlerMethodArgumentResolver> given) {
        if (original instanceof DefaultMessageHandlerMethodFactory configurable) {
            List<HandlerMethodArgumentResolver> all = new ArrayList<>(given == null ? List.of() : given);
            if (all.stream().noneMatch(ClaimArgumentResolver.class::isInstance)) {
                all.add(0, new ClaimArgumentResolver());
            }
            configurable.setArgumentResolvers(all);
            resolvers = List.copyOf(all);
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
        // A JDK proxy has only the methods of interfaces, so the interface's method must be called.
        boolean isClaimed = declared != null && !methods.modes().isObserved(declared);
        Method callable = isClaimed && AopUtils.isJdkDynamicProxy(bean)
                ? AopUtils.selectInvocableMethod(method, bean.getClass())
                : method;
        InvocableHandlerMethod handler = original.createInvocableHandlerMethod(bean, callable);
        if (declared == null) {
            return handler;
        }
        declared.refuseIf(
                !(original instanceof DefaultMessageHandlerMethodFactory)
                        && Arrays.stream(handler.getMethodParameters()).anyMatch(ClaimArgumentResolver::isClaim),
                "it takes a Claim, which the application's MessageHandlerMethodFactory (%s) cannot make"
                        .formatted(original.getClass().getName()),
                "make that factory a DefaultMessageHandlerMethodFactory, or leave the Claim out");
        ListenerMethod listener = methods.read(bean, declared, handler, resolvers);
        if (isClaimed) {
            enclose(bean);
        }
        ContainerSettings.Builder container = ContainerSettings.Builder.bound();
        if (container == null) {
            // The container is made by another container factory, which is not prepared to claim keys.
            throw methods.unprepared(declared);
        }
        DeliveryHandlerMethod read = new DeliveryHandlerMethod(handler, listener);
        container.add(read);
        return read;
    }

    private static void enclose(Object bean) {
        ListenerProxies proxies = ListenerProxies.of(bean);
        Objects.requireNonNull(proxies.claiming()).enclose(proxies);
    }
}
