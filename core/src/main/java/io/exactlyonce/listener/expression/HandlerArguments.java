package io.exactlyonce.listener.expression;

import io.exactlyonce.Claim;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.boundary.TypeAndPlace;
import io.exactlyonce.listener.message.SnsParameters;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.MessageMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.GenericMessage;

/**
 * Variables that a key or fingerprint expression may name: the method's arguments, and {@code #payload}, {@code
 * #message} and {@code #headers}. For a batch method, the expression is evaluated for each message, and cannot name the
 * method's arguments.
 *
 * <p>The key is needed as soon as a message is polled, before interceptors see the message. So the method's arguments
 * are made twice by the same resolvers: for the expression, and for the call of the method. If the expression names an
 * argument that needs more than the message, startup fails.
 */
public final class HandlerArguments {

    private static final Logger log = LoggerFactory.getLogger(HandlerArguments.class);

    private static final String PAYLOAD = "payload";

    private static final Map<String, Argument> ALWAYS_THERE =
            Map.of(PAYLOAD, Argument.PAYLOAD, "message", Argument.MESSAGE, "headers", Argument.HEADERS);

    private final HandlerSignature handler;
    private final boolean isBatch;
    private final @Nullable MethodParameter list;
    private final Refusal refusal;

    /**
     * Finds the variables for a method.
     *
     * @param isBatch whether the method takes more than one message at a time
     * @param list the parameter that takes the messages of a batch; {@code null} if there is none
     * @param refusal makes exceptions that name the listener
     * @throws RuntimeException if the method takes single messages, and its class file has no names of parameters
     */
    public HandlerArguments(
            HandlerSignature handler, boolean isBatch, @Nullable MethodParameter list, Refusal refusal) {
        this(handler, refusal, isBatch, list);
        if (!handler.hasNames() && !isBatch) {
            throw refused(
                    "its key or fingerprint needs the names of the method's arguments, and the class has none",
                    "compile with javac -parameters");
        }
    }

    private HandlerArguments(
            HandlerSignature handler, Refusal refusal, boolean isBatch, @Nullable MethodParameter list) {
        this.handler = handler;
        this.isBatch = isBatch;
        this.list = list;
        this.refusal = refusal;
    }

    /**
     * Returns a function that makes the payload of a message as the method takes it. Reconcilers get this payload. The
     * names of the method's parameters are not needed.
     *
     * @param isBatch whether the method takes more than one message at a time
     * @param list the parameter that takes the messages of a batch; {@code null} if there is none
     * @param refusal makes exceptions that name the listener
     */
    public static Function<Message<?>, @Nullable Object> payloadOf(
            HandlerSignature handler, boolean isBatch, @Nullable MethodParameter list, Refusal refusal) {
        // A list parameter of a type that is made from more than the message is not read here. The payload of each
        // message is used instead.
        MethodParameter items = list != null && handler.isMadeOfMessage(list.getParameterIndex()) ? list : null;
        return new HandlerArguments(handler, refusal, isBatch, items)
                .payload("reconciler")
                .value()::of;
    }

    RuntimeException refused(String problem, String remedy) {
        return refusal.of(problem, remedy);
    }

    @Nullable ClassLoader classLoader() {
        return handler.type().getClassLoader();
    }

    /** Returns the names that an expression may use. */
    Set<String> names() {
        Set<String> all = new TreeSet<>(isBatch ? Set.of() : handler.names());
        all.addAll(ALWAYS_THERE.keySet());
        return all;
    }

    /**
     * Returns a map from names of variables to their types. Error texts suggest properties of these types as the key.
     * The method's arguments come first.
     */
    Map<String, ResolvableType> owners() {
        Map<String, ResolvableType> owners = new LinkedHashMap<>();
        for (int index = 0; index < handler.names().size() && !isBatch; index++) {
            if (handler.isMadeOfMessage(index) && handler.header(index) == null) {
                owners.put(handler.names().get(index), handler.type(index));
            }
        }
        owners.putIfAbsent(PAYLOAD, payload(PAYLOAD).type());
        return owners;
    }

    /**
     * Returns the variable of this name. An argument of the method hides a built-in variable of the same name, except
     * in batch methods.
     *
     * @param expression the expression that names the variable, for error texts
     */
    Argument argument(String name, Object expression) {
        Argument alwaysThere = ALWAYS_THERE.get(name);
        int index = handler.index(name);
        if (alwaysThere != null && (isBatch || index < 0)) {
            return name.equals(PAYLOAD) ? payload(expression) : alwaysThere;
        }
        if (index < 0) {
            throw refused(
                    "%s names the unknown argument '#%s'".formatted(expression, name),
                    "use one of #" + String.join(", #", names()));
        }
        if (isBatch) {
            throw refused(
                    "%s reads the argument '#%s' of a method that takes batches".formatted(expression, name),
                    "use #payload, #message or #headers: the expression is evaluated for each message of a batch");
        }
        if (handler.parameters().get(index).getParameterType() == Claim.class) {
            throw refused(
                    "%s reads the claim '#%s', which depends on the key".formatted(expression, name),
                    "use the message's own content");
        }
        return new Argument(value(index, name, expression), handler.type(index), handler.header(index));
    }

    /**
     * Returns the variable {@code #payload}: the method's payload argument, whatever its name, or the item of a batch.
     * If the method has neither, the message's own payload is used.
     */
    private Argument payload(Object expression) {
        if (isBatch) {
            return list == null ? Argument.PAYLOAD : item(list.getParameterIndex(), expression);
        }
        Argument payload = Argument.PAYLOAD;
        for (int index = handler.parameters().size() - 1; index >= 0; index--) {
            if (!handler.isMadeOfMessage(index)) {
                continue;
            }
            HandlerMethodArgumentResolver resolver = handler.resolver(index);
            MethodParameter parameter = handler.parameters().get(index);
            if (resolver instanceof MessageMethodArgumentResolver) {
                Argument.Value whole = value(index, PAYLOAD, expression);
                payload = new Argument(message -> content(whole.of(message)), content(handler.type(index)), null);
            } else if (resolver instanceof PayloadMethodArgumentResolver) {
                Argument.Value converted = value(index, PAYLOAD, expression);
                Class<?> type = parameter.getParameterType();
                // If the payload already has the parameter's type, it is used as it is. The resolver would only
                // validate it, and the call of the method does this anyway.
                payload = new Argument(
                        message -> type.isInstance(message.getPayload()) ? message.getPayload() : converted.of(message),
                        handler.type(index),
                        null);
            } else if (SnsParameters.isOne(parameter)) {
                payload = new Argument(value(index, PAYLOAD, expression), handler.type(index), null);
            }
        }
        return payload;
    }

    /**
     * Returns the variable {@code #payload} of a batch method: the item of the batch that belongs to one message. If
     * the item is a {@code Message}, its payload is used.
     */
    private Argument item(int index, Object expression) {
        Argument.Value batch = value(index, PAYLOAD, expression);
        return new Argument(
                message -> {
                    List<?> items = (List<?>) Objects.requireNonNull(batch.of(new GenericMessage<>(List.of(message))));
                    return content(items.get(0));
                },
                content(handler.type(index).getGeneric(0)),
                null);
    }

    private static @Nullable Object content(@Nullable Object item) {
        return item instanceof Message<?> whole ? whole.getPayload() : item;
    }

    private static ResolvableType content(ResolvableType item) {
        return Message.class.isAssignableFrom(item.toClass())
                ? item.as(Message.class).getGeneric(0)
                : item;
    }

    private Argument.Value value(int index, String name, Object expression) {
        HandlerMethodArgumentResolver resolver = handler.resolver(index);
        if (resolver == null || !handler.isMadeOfMessage(index)) {
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
        MethodParameter parameter = handler.parameters().get(index);
        return message -> resolve(resolver, parameter, message, name, expression);
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
            throw new UnusableKeyException(
                    ("The %s reads the argument '#%s', which cannot be resolved from this message: %s; "
                                    + "send what the method takes, or correct its parameters")
                            .formatted(expression, name, TypeAndPlace.of(unfit)));
        }
    }
}
