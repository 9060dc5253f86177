package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.adapter.CompositeInvocableHandler;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.listener.message.PayloadType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.messaging.Message;

/**
 * Chooses the method of a listener's class that handles a message. The payload's class decides, as it does in Spring
 * Cloud AWS.
 */
final class HandlerChoice extends CompositeInvocableHandler {

    private static final String NO_TYPE =
            "; the sender names the type in the message attribute JavaType: one that a method takes, a permitted subclass of it, or"
                    + " one of its @JsonSubTypes";

    private final Map<Class<?>, ListenerMethod> chosen = new ConcurrentHashMap<>();

    HandlerChoice(List<DeliveryHandlerMethod> handlers) {
        // If the listener is a class, Spring compares a message's payload with the methods' parameters. If the listener
        // is one method, that method is the default for every message.
        super(
                handlers.stream().anyMatch(handler -> handler.method().isOfClass()) ? List.copyOf(handlers) : List.of(),
                handlers.stream()
                        .filter(handler -> !handler.method().isOfClass()
                                || handler.method().isDefault())
                        .findFirst()
                        .orElse(null));
    }

    /**
     * Checks that Spring Cloud AWS can choose this method for some message.
     *
     * @throws InvalidListenerException if another method takes the same payload, or if no payload leads to this method
     */
    void requireReachable(ListenerMethod method) {
        PayloadType payload = method.payload();
        if (!method.isOfClass() || method.isDefault() || payload == null || payload.raw() == Object.class) {
            return;
        }
        String type = payload.raw().getName();
        boolean isReached;
        try {
            isReached = findHandlerForPayload(payload.raw()) instanceof DeliveryHandlerMethod handler
                    && handler.method().equals(method);
        } catch (IllegalArgumentException ambiguous) {
            throw method.refused(
                    "another @SqsHandler method of its class takes %s too, so each such message would fail"
                            .formatted(type),
                    "let one method take it, or mark the more general one with isDefault = true");
        }
        if (!isReached) {
            throw method.refused(
                    "Spring Cloud AWS chooses among the methods of a class by a parameter of the payload's class, and it has none of %s"
                            .formatted(type),
                    "take the payload itself, and its headers by @Header or MessageHeaders");
        }
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
            throw new UnusableKeyException(
                    "Several @SqsHandler methods take a payload of type %s, so it is not known whose key to claim; let one of them take it"
                            .formatted(payload.getName()),
                    ambiguous);
        }
        throw new UnusableKeyException(
                "No @SqsHandler method takes a payload of type %s, so there is no key to claim; add one, or mark one with isDefault = true%s"
                        .formatted(payload.getName(), payload == String.class ? NO_TYPE : ""));
    }
}
