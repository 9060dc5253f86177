package io.exactlyonce.listener.expression;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.listener.message.RedactedException;
import io.exactlyonce.listener.message.UnreadableReason;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.GenericMessage;

/**
 * The arguments that an expression may name, and {@code #payload}, {@code #message} and {@code #headers}.
 *
 * <p>An argument is made of a message as it was polled, by the resolver that makes it for the method. The key is known before
 * interceptors see the message, so an argument that needs more than the message is refused. Of a batch, an expression is evaluated
 * for each message alone.
 */
public final class HandlerArguments {

    private static final Logger log = LoggerFactory.getLogger(HandlerArguments.class);

    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final String PAYLOAD = "payload";

    private static final Map<String, Value> ALWAYS_THERE =
            Map.of(PAYLOAD, Message::getPayload, "message", message -> message, "headers", Message::getHeaders);

    /** The packages of Spring Cloud AWS's and Spring's resolvers, which use only the message. */
    private static final Set<String> RESOLVING_MESSAGES = Set.of(
            BatchPayloadMethodArgumentResolver.class.getPackageName(),
            BatchPayloadMethodArgumentResolver.class.getPackageName() + ".legacy",
            PayloadMethodArgumentResolver.class.getPackageName());

    /** Arguments that are made of the message, but not of its content. */
    private static final Set<Class<?>> WITHOUT_CONTENT = Set.of(Visibility.class, BatchVisibility.class);

    private final Method method;
    private final List<String> names;
    private final MethodParameter[] parameters;
    private final List<HandlerMethodArgumentResolver> resolvers;
    private final boolean isBatch;
    private final @Nullable MethodParameter list;
    private final Refusal refusal;

    /** The source of a variable. */
    @FunctionalInterface
    interface Value {
        @Nullable Object of(Message<?> message);
    }

    /**
     * Finds the names of a method's arguments.
     *
     * @param method the listener method
     * @param parameters as they are resolved when it is called: an interface's where the bean has a JDK proxy
     * @param resolvers in the order in which they are asked; empty if they are not known
     * @param isBatch whether the method takes more than one message at a time
     * @param list the parameter by which a batch's method takes the messages; {@code null} if there is none
     * @param refusal of the listener
     * @throws RuntimeException of the refusal, if the class has no names
     */
    public HandlerArguments(
            Method method,
            MethodParameter[] parameters,
            List<HandlerMethodArgumentResolver> resolvers,
            boolean isBatch,
            @Nullable MethodParameter list,
            Refusal refusal) {
        this.method = method;
        this.parameters = parameters;
        this.resolvers = resolvers;
        this.isBatch = isBatch;
        this.list = list;
        this.refusal = refusal;
        String[] found = PARAMETER_NAMES.getParameterNames(method);
        this.names = found == null ? List.of() : List.of(found);
        if (found == null && !isBatch) {
            throw refused(
                    "its key or fingerprint needs the names of the method's arguments, and the class has none",
                    "compile with javac -parameters");
        }
        for (MethodParameter parameter : parameters) {
            parameter.initParameterNameDiscovery(PARAMETER_NAMES);
        }
    }

    RuntimeException refused(String problem, String remedy) {
        return refusal.of(problem, remedy);
    }

    /**
     * Returns how to make the value of {@code #name} of a message. A method argument hides a built-in name, except in batch methods.
     *
     * @param expression that names it, for the texts
     */
    Value value(String name, Object expression) {
        if (isBatch && list != null && name.equals(PAYLOAD)) {
            return item(argument(list.getParameterIndex(), name, expression));
        }
        Value alwaysThere = ALWAYS_THERE.get(name);
        int index = index(name);
        if (alwaysThere != null && (isBatch || index < 0)) {
            return alwaysThere;
        }
        if (index < 0) {
            Set<String> known = new TreeSet<>(isBatch ? Set.of() : names);
            known.addAll(ALWAYS_THERE.keySet());
            throw refused(
                    "%s names the unknown argument '#%s'".formatted(expression, name),
                    "use one of #" + String.join(", #", known));
        }
        if (isBatch) {
            throw refused(
                    "%s reads the argument '#%s' of a method that takes batches".formatted(expression, name),
                    "use #payload, #message or #headers: the expression is evaluated for each message of a batch");
        }
        if (parameters[index].getParameterType() == Claim.class) {
            throw refused(
                    "%s reads the claim '#%s', which depends on the key".formatted(expression, name),
                    "use the message's own content");
        }
        return argument(index, name, expression);
    }

    /** Returns the declared type of {@code #name}; {@code Object} if it has none. */
    Class<?> type(String name) {
        if (isBatch) {
            return list != null && name.equals(PAYLOAD) ? itemType(list) : Object.class;
        }
        int index = names.indexOf(name);
        return index < 0 ? Object.class : method.getParameterTypes()[index];
    }

    private static Class<?> itemType(MethodParameter list) {
        ResolvableType item = ResolvableType.forMethodParameter(list).getGeneric(0);
        return (Message.class.isAssignableFrom(item.toClass()) ? item.getGeneric(0) : item).toClass();
    }

    /** Returns where an argument is that is named so, or by its position, such as {@code p0}; -1 for another name. */
    private int index(String name) {
        int named = names.indexOf(name);
        if (named >= 0 || !name.matches("[ap]\\d{1,3}")) {
            return named;
        }
        int position = Integer.parseInt(name.substring(1));
        return position < parameters.length ? position : -1;
    }

    private Value argument(int index, String name, Object expression) {
        MethodParameter parameter = parameters[index];
        HandlerMethodArgumentResolver resolver = resolvers.stream()
                .filter(each -> each.supportsParameter(parameter))
                .findFirst()
                .orElse(null);
        if (resolver == null
                || !RESOLVING_MESSAGES.contains(resolver.getClass().getPackageName())
                || WITHOUT_CONTENT.contains(parameter.getParameterType())) {
            throw refused(
                    "%s reads the argument '#%s', which %s makes when the method is called; its value is needed before, when the message is polled"
                            .formatted(
                                    expression,
                                    name,
                                    resolver == null
                                            ? "the application's own MessageHandlerMethodFactory"
                                            : resolver.getClass().getName()),
                    "let it read the message: #payload, #message, #headers, or a parameter that is the payload, a Message<T>, a "
                            + "@Header or @Headers");
        }
        return message -> resolve(resolver, parameter, message, name, expression);
    }

    /** Reads what the method is given of one message of a batch, without the message around it. */
    private static Value item(Value batch) {
        return message -> {
            List<?> items = (List<?>) Objects.requireNonNull(batch.of(new GenericMessage<>(List.of(message))));
            Object item = items.get(0);
            return item instanceof Message<?> whole ? whole.getPayload() : item;
        };
    }

    private static @Nullable Object resolve(
            HandlerMethodArgumentResolver resolver,
            MethodParameter parameter,
            Message<?> message,
            String name,
            Object expression) {
        try {
            return resolver.resolveArgument(parameter, message);
        } catch (Exception unfit) {
            log.debug("Why the {} cannot read '#{}'", expression, name, RedactedException.of(unfit));
            throw new InvalidKeyException(
                    ("The %s reads the argument '#%s', which cannot be resolved from this message: %s; "
                                    + "send what the method takes, or correct its parameters")
                            .formatted(expression, name, UnreadableReason.of(unfit)));
        }
    }
}
