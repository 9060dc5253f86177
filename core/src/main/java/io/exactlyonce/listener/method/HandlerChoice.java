package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.listener.adapter.CompositeInvocableHandler;
import io.exactlyonce.InvalidKeyException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;

/** Chooses a method of a class by a message's payload, as Spring Cloud AWS does when it calls it. */
final class HandlerChoice extends CompositeInvocableHandler {

    private final Map<Class<?>, ListenerMethod> chosen = new ConcurrentHashMap<>();

    HandlerChoice(List<DeliveryHandlerMethod> handlers) {
        // Spring Cloud AWS ignores parameters if there is no choice.
        super(
                handlers.size() == 1 ? List.of() : List.copyOf(handlers),
                handlers.stream()
                        .filter(handler -> handlers.size() == 1 || isDefault(handler))
                        .findFirst()
                        .orElse(null));
    }

    private static boolean isDefault(DeliveryHandlerMethod handler) {
        SqsHandler annotation =
                AnnotatedElementUtils.findMergedAnnotation(handler.method().method(), SqsHandler.class);
        return annotation != null && annotation.isDefault();
    }

    ListenerMethod of(Message<?> message) {
        return chosen.computeIfAbsent(message.getPayload().getClass(), this::choose);
    }

    private ListenerMethod choose(Class<?> payload) {
        try {
            if (findHandlerForPayload(payload) instanceof DeliveryHandlerMethod handler) {
                return handler.method();
            }
        } catch (IllegalArgumentException ambiguous) {
            throw new InvalidKeyException(
                    "Several @SqsHandler methods take a payload of type %s, so it is not known whose key to claim; let one of them take it"
                            .formatted(payload.getName()),
                    ambiguous);
        }
        throw new InvalidKeyException(
                "No @SqsHandler method takes a payload of type %s, so there is no key to claim; add one, or mark one with isDefault = true"
                        .formatted(payload.getName()));
    }
}
