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

    /** @throws InvalidListenerException if a method that is only observed takes a claim, of which there is none */
    static void requireNoClaim(Method observed) {
        if (BatchSignature.parameters(observed).stream().anyMatch(ClaimArgumentResolver::isClaim)) {
            throw new InvalidListenerException(
                    observed,
                    "its mode is 'observe', and it takes a Claim: no claim is held while it runs, and no fencing token known",
                    "leave the parameter out while it is observed, or set mode = \"enforce\" for this listener");
        }
    }

    private static boolean isClaim(MethodParameter parameter) {
        return parameter.getParameterType() == Claim.class || BatchSignature.isClaims(parameter);
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return isClaim(parameter) && isOurs(Objects.requireNonNull(parameter.getMethod()));
    }

    private boolean isOurs(Method method) {
        return ListenerMethodReader.isExactlyOnce(method) || called.contains(method);
    }

    @Override
    public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
        return null;
    }
}
