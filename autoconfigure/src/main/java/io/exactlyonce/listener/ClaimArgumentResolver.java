package io.exactlyonce.listener;

import io.exactlyonce.Claim;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/**
 * Keeps parameters for a {@link Claim}, or for those of a batch, from being taken for the payload. Arguments are resolved before the key is claimed, since
 * the key is made of them, so the aspect fills the claim in later.
 */
final class ClaimArgumentResolver implements HandlerMethodArgumentResolver {

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        boolean claim = parameter.getParameterType() == Claim.class || BatchShape.isClaims(parameter);
        return claim && ListenerMethodFactory.isExactlyOnce(Objects.requireNonNull(parameter.getMethod()));
    }

    @Override
    public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
        return null;
    }
}
