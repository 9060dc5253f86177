package io.exactlyonce.listener.expression;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.support.HeadersMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/**
 * A listener method, as its container calls it.
 *
 * @param type the class of the method's bean, which may have inherited the method
 * @param parameters the parameters that are resolved for a call: those of the interface's method if the bean has a JDK
 *     proxy
 * @param resolvers the resolvers of arguments in the order in which they are tried; empty if they are not known
 * @param placeholders resolves placeholders in the names of headers
 * @param names the names of the arguments; empty if the class file has no names
 */
public record HandlerSignature(
        Class<?> type,
        Method method,
        List<MethodParameter> parameters,
        List<HandlerMethodArgumentResolver> resolvers,
        UnaryOperator<String> placeholders,
        List<String> names) {

    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    /** The packages of those resolvers of Spring Cloud AWS and Spring that use nothing but the message. */
    private static final Set<String> RESOLVING_MESSAGES = Set.of(
            BatchPayloadMethodArgumentResolver.class.getPackageName(),
            BatchPayloadMethodArgumentResolver.class.getPackageName() + ".legacy",
            PayloadMethodArgumentResolver.class.getPackageName());

    /**
     * Types of arguments that change the visibility of messages. They are made from the message, but have no content of
     * it.
     */
    private static final Set<Class<?>> WITHOUT_CONTENT = Set.of(Visibility.class, BatchVisibility.class);

    /** Makes a signature with the names of the method's arguments. */
    public static HandlerSignature of(
            Class<?> type,
            Method method,
            MethodParameter[] parameters,
            List<HandlerMethodArgumentResolver> resolvers,
            UnaryOperator<String> placeholders) {
        String[] names = PARAMETER_NAMES.getParameterNames(method);
        for (MethodParameter parameter : parameters) {
            parameter.initParameterNameDiscovery(PARAMETER_NAMES);
        }
        return new HandlerSignature(
                type,
                method,
                Arrays.asList(parameters),
                resolvers,
                placeholders,
                names == null ? List.of() : List.of(names));
    }

    /** Returns whether the class file has the names of the method's arguments, or the method has no arguments. */
    boolean hasNames() {
        return names.size() == parameters.size();
    }

    /**
     * Returns the index of an argument; -1 if there is none.
     *
     * @param name the argument's name, or its position, such as {@code p0} or {@code a0}
     */
    int index(String name) {
        int named = names.indexOf(name);
        if (named >= 0 || !name.matches("[ap]\\d{1,3}")) {
            return named;
        }
        int position = Integer.parseInt(name.substring(1));
        return position < parameters.size() ? position : -1;
    }

    /** Returns the resolver that makes an argument; {@code null} if it is not known. */
    @Nullable HandlerMethodArgumentResolver resolver(int index) {
        return resolvers.stream()
                .filter(each -> each.supportsParameter(parameters.get(index)))
                .findFirst()
                .orElse(null);
    }

    /** Returns whether an argument depends only on the message, so that it can be made before the method is called. */
    boolean isMadeOfMessage(int index) {
        HandlerMethodArgumentResolver resolver = resolver(index);
        return resolver != null
                && RESOLVING_MESSAGES.contains(resolver.getClass().getPackageName())
                && !WITHOUT_CONTENT.contains(parameters.get(index).getParameterType());
    }

    /**
     * Returns an argument's type, resolved with the type arguments of the bean's class. The type of an argument for all
     * headers is {@code MessageHeaders}.
     */
    ResolvableType type(int index) {
        ResolvableType declared = ResolvableType.forMethodParameter(method, index, type);
        return resolver(index) instanceof HeadersMethodArgumentResolver
                        && MessageHeaders.class != declared.toClass()
                        && declared.toClass().isAssignableFrom(MessageHeaders.class)
                ? ResolvableType.forClass(MessageHeaders.class)
                : declared;
    }

    /** Returns the name of the header from which an argument is made; {@code null} if the argument is not a header. */
    @Nullable String header(int index) {
        Header header = parameters.get(index).getParameterAnnotation(Header.class);
        if (header == null) {
            return null;
        }
        String name = header.name().isEmpty() ? parameters.get(index).getParameterName() : header.name();
        return placeholders.apply(Objects.requireNonNullElse(name, ""));
    }
}
