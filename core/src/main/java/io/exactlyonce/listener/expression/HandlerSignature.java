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
 * A listener method, and how its arguments are made.
 *
 * @param type the class of the method's bean, which may have inherited the method
 * @param parameters the method's parameters. If the bean has a JDK proxy, these are the parameters of the interface's
 *     method
 * @param resolvers make arguments, and are tried in this order; empty if they are not known
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

    /** Packages of Spring and Spring Cloud AWS whose resolvers need nothing but the message to make an argument. */
    private static final Set<String> RESOLVING_MESSAGES = Set.of(
            BatchPayloadMethodArgumentResolver.class.getPackageName(),
            BatchPayloadMethodArgumentResolver.class.getPackageName() + ".legacy",
            PayloadMethodArgumentResolver.class.getPackageName());

    /**
     * Types of arguments through which a handler changes the visibility of its message. Such an argument has no content
     * of the message.
     */
    private static final Set<Class<?>> WITHOUT_CONTENT = Set.of(Visibility.class, BatchVisibility.class);

    /** Makes a signature. The names of the arguments are read from the class file. */
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

    /** Returns whether the names of all arguments are known. */
    boolean hasNames() {
        return names.size() == parameters.size();
    }

    /**
     * Returns the index of an argument; -1 if there is none.
     *
     * @param name the argument's name, or {@code p0} or {@code a0} for the first argument, and so on
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
     * Returns an argument's type. If the type is a type variable such as {@code T}, the type argument of the bean's
     * class replaces it. An argument that takes all headers has the type {@code MessageHeaders}.
     */
    ResolvableType type(int index) {
        ResolvableType declared = ResolvableType.forMethodParameter(method, index, type);
        return resolver(index) instanceof HeadersMethodArgumentResolver
                        && MessageHeaders.class != declared.toClass()
                        && declared.toClass().isAssignableFrom(MessageHeaders.class)
                ? ResolvableType.forClass(MessageHeaders.class)
                : declared;
    }

    /** Returns the header's name if an argument is made from a header; {@code null} otherwise. */
    @Nullable String header(int index) {
        Header header = parameters.get(index).getParameterAnnotation(Header.class);
        if (header == null) {
            return null;
        }
        String name = header.name().isEmpty() ? parameters.get(index).getParameterName() : header.name();
        return placeholders.apply(Objects.requireNonNullElse(name, ""));
    }
}
