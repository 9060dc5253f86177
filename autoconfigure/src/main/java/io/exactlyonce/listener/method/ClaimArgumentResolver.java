package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/**
 * Keeps parameters for a {@link Claim}, or for a batch's claims, from being taken for the payload. Arguments are resolved
 * before the key is claimed; so the aspect fills the claim in later.
 */
public final class ClaimArgumentResolver implements HandlerMethodArgumentResolver {

    /** As listeners are called: by an interface's method where the bean has a JDK proxy. */
    private final Set<Method> called = ConcurrentHashMap.newKeySet();

    /** Takes note of a listener that need not have the annotation: it may be on the class, or on its class's method only. */
    void addListener(Method method) {
        called.add(method);
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        boolean claim = parameter.getParameterType() == Claim.class || BatchSignature.isClaims(parameter);
        return claim && isOurs(Objects.requireNonNull(parameter.getMethod()));
    }

    private boolean isOurs(Method method) {
        return ListenerMethodReader.isExactlyOnce(method) || called.contains(method);
    }

    @Override
    public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
        return null;
    }
}
