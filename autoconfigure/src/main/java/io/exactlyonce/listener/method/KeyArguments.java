package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.listener.message.FailureOutline;
import io.exactlyonce.listener.message.UnreadableReason;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.GenericMessage;

/**
 * A listener method's arguments as its key may name them: each made of a message as it was polled, by the resolver that makes it for
 * the method. The key is known before interceptors see the message, so an argument that needs more than the message is refused.
 */
final class KeyArguments {

    private static final Logger log = LoggerFactory.getLogger(KeyArguments.class);

    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    /** Where awspring and Spring keep the resolvers that look at nothing but the message. */
    private static final Set<String> RESOLVING_MESSAGES = Set.of(
            BatchPayloadMethodArgumentResolver.class.getPackageName(),
            BatchPayloadMethodArgumentResolver.class.getPackageName() + ".legacy",
            PayloadMethodArgumentResolver.class.getPackageName());

    /** They are made of the message, but say nothing of its content. */
    private static final Set<Class<?>> WITHOUT_CONTENT = Set.of(Visibility.class, BatchVisibility.class);

    private final Method method;
    private final MethodParameter[] parameters;
    private final List<HandlerMethodArgumentResolver> resolvers;

    /** What a key expression reads under a name. */
    interface Value {

        /**
         * Reads it.
         *
         * @throws InvalidKeyException if it cannot be made of this message
         */
        @Nullable Object of(Message<?> message);
    }

    /**
     * Makes a method's arguments.
     *
     * @param method the listener method
     * @param parameters as they are resolved when it is called: an interface's where the bean has a JDK proxy
     * @param resolvers in the order in which they are asked; empty if they are not known
     */
    KeyArguments(Method method, MethodParameter[] parameters, List<HandlerMethodArgumentResolver> resolvers) {
        this.method = method;
        this.parameters = parameters;
        this.resolvers = resolvers;
        for (MethodParameter parameter : parameters) {
            parameter.initParameterNameDiscovery(PARAMETER_NAMES);
        }
    }

    Method method() {
        return method;
    }

    /** Returns the arguments' names in their order; {@code null} if the class has none. */
    String @Nullable [] names() {
        return PARAMETER_NAMES.getParameterNames(method);
    }

    /**
     * Returns the argument of a method that takes single messages.
     *
     * @param read names it in a failure's text, with the expression that reads it
     * @throws InvalidListenerException if more than the message is needed to make it
     */
    Value argument(int index, String read) {
        HandlerMethodArgumentResolver resolver = resolver(index, read);
        return message -> resolve(resolver, index, message, read);
    }

    /**
     * Returns what the method is given of one message of a batch, without the message around it.
     *
     * @param list the position at which it takes the messages
     * @throws InvalidListenerException if more than the messages is needed to make it
     */
    Value item(int list, String read) {
        HandlerMethodArgumentResolver resolver = resolver(list, read);
        return message -> {
            Message<?> alone = new GenericMessage<>(List.of(message));
            List<?> items = (List<?>) Objects.requireNonNull(resolve(resolver, list, alone, read));
            return BatchSignature.payload(items.get(0));
        };
    }

    private HandlerMethodArgumentResolver resolver(int index, String read) {
        MethodParameter parameter = parameters[index];
        HandlerMethodArgumentResolver resolver = resolvers.stream()
                .filter(each -> each.supportsParameter(parameter))
                .findFirst()
                .orElseThrow(() -> refused(read, "the application's own MessageHandlerMethodFactory"));
        if (!RESOLVING_MESSAGES.contains(resolver.getClass().getPackageName())
                || WITHOUT_CONTENT.contains(parameter.getParameterType())) {
            throw refused(read, resolver.getClass().getName());
        }
        return resolver;
    }

    private InvalidListenerException refused(String read, String maker) {
        return new InvalidListenerException(
                method,
                "%s, which %s makes when the method is called; its key is needed before, when the message is polled"
                        .formatted(read, maker),
                "let the key read the message: #payload, #message, #headers, or a parameter that is the payload, a Message<T>, a "
                        + "@Header or @Headers");
    }

    private @Nullable Object resolve(
            HandlerMethodArgumentResolver resolver, int index, Message<?> message, String read) {
        try {
            return resolver.resolveArgument(parameters[index], message);
        } catch (Exception unfit) {
            if (log.isDebugEnabled()) {
                log.debug("Why the argument cannot be made of which the {}", read, FailureOutline.of(unfit));
            }
            throw new InvalidKeyException(
                    "The %s, which cannot be made of this message: %s; send what the method takes, or correct its parameters"
                            .formatted(read, UnreadableReason.of(unfit)));
        }
    }
}
