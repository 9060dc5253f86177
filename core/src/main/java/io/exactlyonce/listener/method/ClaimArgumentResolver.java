package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/**
 * Passes claims to a handler's parameter of type {@link Claim}, or {@code List<Claim>} for a batch. With {@code effects
 * = DATABASE}, Spring makes the arguments before keys are claimed, so {@link ListenerArguments} adds the claims.
 */
public final class ClaimArgumentResolver implements HandlerMethodArgumentResolver {

    static boolean isClaim(MethodParameter parameter) {
        return parameter.getParameterType() == Claim.class || isClaims(parameter);
    }

    static boolean isClaims(MethodParameter parameter) {
        return parameter.getParameterType() == List.class
                && ResolvableType.forMethodParameter(parameter).getGeneric(0).toClass() == Claim.class;
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return isClaim(parameter);
    }

    @Override
    public @Nullable Object resolveArgument(MethodParameter parameter, Message<?> message) {
        ListenerMethod observed = ListenerInvocation.observed();
        return isClaims(parameter)
                ? ((Collection<?>) message.getPayload())
                        .stream()
                                .flatMap(each -> claim((Message<?>) each, observed))
                                .collect(Collectors.toList())
                : claim(message, observed).findFirst().orElse(null);
    }

    private static Stream<Claim> claim(Message<?> message, @Nullable ListenerMethod observed) {
        if (observed != null) {
            return Stream.of(observed.observedClaim(message));
        }
        Delivery delivery = ReceivedMessage.require(message).delivery();
        return delivery.attempt().isAcquired() ? Stream.of(delivery.attempt().handlersClaim()) : Stream.empty();
    }
}
