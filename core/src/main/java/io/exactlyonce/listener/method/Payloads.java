package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import io.exactlyonce.listener.message.PayloadType;
import java.lang.reflect.TypeVariable;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.annotation.support.MessageMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/** Finds the parameter that takes the payload, and reads its full type. Follows the rules of Spring Cloud AWS. */
record Payloads(
        ListenerDeclaration declared, List<MethodParameter> parameters, List<HandlerMethodArgumentResolver> resolvers) {

    /**
     * Returns the type of payloads; {@code null} if the method takes no payload, or if the payload's parameter is not
     * known.
     *
     * @throws InvalidListenerException if the type contains an unresolved {@code T}, or is an SNS notification whose
     *     message is not text
     */
    @Nullable PayloadType type() {
        for (MethodParameter parameter : parameters) {
            ResolvableType whole = ResolvableType.forMethodParameter(parameter);
            requireTextOfNotifications(whole);
            if (takesPayload(parameter)) {
                ResolvableType payload = payload(whole);
                requireTextOfNotifications(payload);
                TypeVariable<?> unresolved = PayloadType.unresolved(payload);
                declared.refuseIf(
                        unresolved != null,
                        "it takes the payload %s, and its bean's class does not name %s, so payloads would be maps or text"
                                .formatted(parameter.getGenericParameterType().getTypeName(), unresolved),
                        "declare a subclass that names it, such as class OrderHandler extends Handler<Order>, as the bean");
                return PayloadType.of(parameter, payload);
            }
        }
        return null;
    }

    /**
     * Returns whether a parameter takes the payload. Spring's argument resolvers decide that. If they are not known
     * yet, the result is false for a listener on a method. For a listener on a class, the parameter's type and
     * annotations decide.
     */
    private boolean takesPayload(MethodParameter parameter) {
        if (resolvers.isEmpty()) {
            return declared.shared()
                    && parameter.getParameterType() != io.exactlyonce.Claim.class
                    && !parameter.hasParameterAnnotation(Header.class)
                    && !parameter.hasParameterAnnotation(Headers.class);
        }
        return parameter.hasParameterAnnotation(Payload.class)
                || resolvers.stream()
                        .filter(resolver -> !(resolver instanceof PayloadMethodArgumentResolver
                                || resolver instanceof BatchPayloadMethodArgumentResolver
                                || resolver instanceof MessageMethodArgumentResolver))
                        .noneMatch(resolver -> resolver.supportsParameter(parameter));
    }

    private static ResolvableType payload(ResolvableType parameter) {
        Class<?> raw = parameter.toClass();
        if (Collection.class.isAssignableFrom(raw)) {
            return withoutMessage(parameter.as(Collection.class).getGeneric(0));
        }
        return raw == Optional.class ? parameter.getGeneric(0) : withoutMessage(parameter);
    }

    private static ResolvableType withoutMessage(ResolvableType type) {
        return Message.class.isAssignableFrom(type.toClass())
                ? type.as(Message.class).getGeneric(0)
                : type;
    }

    /**
     * Permits only {@code SnsNotification<String>} and {@code SnsNotification<Object>}, because Spring Cloud AWS reads
     * the message of a notification as text.
     */
    private void requireTextOfNotifications(ResolvableType type) {
        if (SnsNotification.class.isAssignableFrom(type.toClass())) {
            Class<?> content = type.as(SnsNotification.class).getGeneric(0).resolve();
            declared.refuseIf(
                    content != Object.class && content != String.class,
                    "it takes %s, whose message Spring Cloud AWS reads as text only".formatted(type),
                    "take an SnsNotification<String>, or the message alone as any type: @SnsNotificationMessage");
        }
    }
}
