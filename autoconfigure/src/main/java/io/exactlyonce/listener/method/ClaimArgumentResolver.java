package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import java.lang.reflect.Method;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/**
 * Keeps parameters for a {@link Claim}, or for a batch's claims, from being taken for the payload. Arguments are resolved
 * before the key is claimed, since the key is made of them; so the aspect fills the claim in later.
 */
public final class ClaimArgumentResolver implements HandlerMethodArgumentResolver {

    private final ProxyMethods interfaceMethods;

    public ClaimArgumentResolver(ProxyMethods interfaceMethods) {
        this.interfaceMethods = interfaceMethods;
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        boolean claim = parameter.getParameterType() == Claim.class || BatchSignature.isClaims(parameter);
        return claim && isOurs(Objects.requireNonNull(parameter.getMethod()));
    }

    private boolean isOurs(Method method) {
        return ListenerMethodReader.isExactlyOnce(method) || interfaceMethods.contains(method);
    }

    @Override
    public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
        return null;
    }
}
