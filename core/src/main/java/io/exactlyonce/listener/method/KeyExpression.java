package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.support.resolver.BatchPayloadMethodArgumentResolver;
import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.listener.message.RedactedException;
import io.exactlyonce.listener.message.UnreadableReason;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeanUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * A listener's {@code key} or {@code fingerprint} expression, parsed and checked when the application starts: names
 * that are not arguments, and properties that an argument's type cannot have, are rejected, unless the type may have
 * subclasses. If it fails on a message, SpEL's own errors name properties and types, and are logged; exceptions of
 * methods and getters may quote the message, and are not.
 *
 * <p>An argument is made of a message as it was polled, by the resolver that makes it for the method. The key is known before
 * interceptors see the message, so an argument that needs more than the message is refused. Of a batch, the expression is evaluated
 * for each message alone.
 */
final class KeyExpression {

    private static final Logger log = LoggerFactory.getLogger(KeyExpression.class);

    private static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private static final String PAYLOAD = "payload";

    private static final Map<String, Value> ALWAYS_THERE =
            Map.of(PAYLOAD, Message::getPayload, "message", message -> message, "headers", Message::getHeaders);

    /** SpEL's own. */
    private static final Set<String> SPEL = Set.of("root", "this");

    /** The packages of Spring Cloud AWS's and Spring's resolvers, which use only the message. */
    private static final Set<String> RESOLVING_MESSAGES = Set.of(
            BatchPayloadMethodArgumentResolver.class.getPackageName(),
            BatchPayloadMethodArgumentResolver.class.getPackageName() + ".legacy",
            PayloadMethodArgumentResolver.class.getPackageName());

    /** They are made of the message, but not of its content. */
    private static final Set<Class<?>> WITHOUT_CONTENT = Set.of(Visibility.class, BatchVisibility.class);

    private static final int MAX_REASON_LENGTH = 300;

    /**
     * Never compiles, independent of {@code spring.expression.compiler.mode}: compiled arithmetic truncates numbers of
     * another type than those before, and compiled reads of a map take an absent property for null. A key must not
     * depend on how often its expression was evaluated.
     */
    private static final SpelExpressionParser PARSER =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    private final String attribute;
    private final SpelExpression expression;
    private final Method method;
    private final List<String> names;
    private final MethodParameter[] parameters;
    private final List<HandlerMethodArgumentResolver> resolvers;
    private final boolean isBatch;

    /** By which a batch's method takes the messages. */
    private final @Nullable MethodParameter list;

    /** Its variables, by name. */
    private final Map<String, Value> variables = new HashMap<>();

    /** One for all messages, because they cache how to read each type's properties. */
    private final List<PropertyAccessor> properties = List.of(new MapAccessor(), new ReflectivePropertyAccessor());

    /** The source of a variable. */
    @FunctionalInterface
    private interface Value {
        @Nullable Object of(Message<?> message);
    }

    /**
     * Parses an expression and checks the names that it uses.
     *
     * @param attribute of the annotation, whose expression it is
     * @param method the listener method
     * @param parameters as they are resolved when it is called: an interface's where the bean has a JDK proxy
     * @param resolvers in the order in which they are asked; empty if they are not known
     * @throws InvalidListenerException if it does not parse, names something that the method does not have, or something that is
     *     not known when the message is polled
     */
    KeyExpression(
            String attribute,
            String text,
            Method method,
            MethodParameter[] parameters,
            List<HandlerMethodArgumentResolver> resolvers) {
        this.attribute = attribute;
        try {
            this.expression = PARSER.parseRaw(text);
        } catch (ParseException invalid) {
            throw new InvalidListenerException(
                    method,
                    "%s expression '%s' does not parse: %s".formatted(attribute, text, invalid.getSimpleMessage()),
                    "write SpEL over the method's arguments, for example %s = \"#order.orderId\"".formatted(attribute));
        }
        this.method = method;
        this.parameters = parameters;
        this.resolvers = resolvers;
        this.isBatch = ListenerRules.isBatch(method);
        this.list = ListenerRules.list(method);
        String[] found = PARAMETER_NAMES.getParameterNames(method);
        this.names = found == null ? List.of() : List.of(found);
        if (found == null && !isBatch) {
            throw refused(
                    "needs the names of the method's arguments, and the class has none",
                    "compile with javac -parameters");
        }
        for (MethodParameter parameter : parameters) {
            parameter.initParameterNameDiscovery(PARAMETER_NAMES);
        }
        check(expression.getAST());
    }

    private void check(SpelNode node) {
        if (node instanceof VariableReference variable) {
            String name = nameOf(variable);
            if (!SPEL.contains(name)) {
                variables.put(name, value(name));
            }
        }
        if (node instanceof CompoundExpression
                && node.getChild(0) instanceof VariableReference variable
                && node.getChild(1) instanceof PropertyOrFieldReference property) {
            checkProperty(nameOf(variable), property.getName());
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            check(node.getChild(child));
        }
    }

    private static String nameOf(VariableReference variable) {
        return variable.toStringAST().substring(1);
    }

    /** An argument that is named like what is always there wins, but not one of a whole batch. */
    private Value value(String name) {
        if (isBatch && list != null && name.equals(PAYLOAD)) {
            return item(argument(list.getParameterIndex(), name));
        }
        Value alwaysThere = ALWAYS_THERE.get(name);
        int index = index(name);
        if (alwaysThere != null && (isBatch || index < 0)) {
            return alwaysThere;
        }
        if (index < 0) {
            Set<String> known = new TreeSet<>(isBatch ? Set.of() : names);
            known.addAll(ALWAYS_THERE.keySet());
            throw refused("names the unknown argument '#" + name + "'", "use one of #" + String.join(", #", known));
        }
        if (isBatch) {
            throw refused(
                    "reads the argument '#%s' of a method that takes batches".formatted(name),
                    "use #payload, #message or #headers: the expression is evaluated for each message of a batch");
        }
        if (parameters[index].getParameterType() == Claim.class) {
            throw refused(
                    "reads the claim '#%s', which depends on the key".formatted(name), "use the message's own content");
        }
        return argument(index, name);
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

    private InvalidListenerException refused(String problem, String remedy) {
        return new InvalidListenerException(method, "%s %s".formatted(this, problem), remedy);
    }

    private Value argument(int index, String name) {
        MethodParameter parameter = parameters[index];
        HandlerMethodArgumentResolver resolver = resolvers.stream()
                .filter(each -> each.supportsParameter(parameter))
                .findFirst()
                .orElse(null);
        if (resolver == null
                || !RESOLVING_MESSAGES.contains(resolver.getClass().getPackageName())
                || WITHOUT_CONTENT.contains(parameter.getParameterType())) {
            throw refused(
                    "reads the argument '#%s', which %s makes when the method is called; its value is needed before, when the message is polled"
                            .formatted(
                                    name,
                                    resolver == null
                                            ? "the application's own MessageHandlerMethodFactory"
                                            : resolver.getClass().getName()),
                    "let it read the message: #payload, #message, #headers, or a parameter that is the payload, a Message<T>, a "
                            + "@Header or @Headers");
        }
        return message -> resolve(resolver, parameter, message, name);
    }

    /** Reads what the method is given of one message of a batch, without the message around it. */
    private static Value item(Value batch) {
        return message -> {
            List<?> items = (List<?>) Objects.requireNonNull(batch.of(new GenericMessage<>(List.of(message))));
            Object item = items.get(0);
            return item instanceof Message<?> whole ? whole.getPayload() : item;
        };
    }

    private @Nullable Object resolve(
            HandlerMethodArgumentResolver resolver, MethodParameter parameter, Message<?> message, String name) {
        try {
            return resolver.resolveArgument(parameter, message);
        } catch (Exception unfit) {
            log.debug("Why the {} cannot read '#{}'", this, name, RedactedException.of(unfit));
            throw new InvalidKeyException(
                    ("The %s reads the argument '#%s', which cannot be resolved from this message: %s; "
                                    + "send what the method takes, or correct its parameters")
                            .formatted(this, name, UnreadableReason.of(unfit)));
        }
    }

    private void checkProperty(String variable, String property) {
        int index = names.indexOf(variable);
        Class<?> type = isBatch
                ? list != null && variable.equals(PAYLOAD) ? ListenerRules.itemType(list) : Object.class
                : index < 0 ? Object.class : method.getParameterTypes()[index];
        // Of an Optional, SpEL may read what is inside.
        boolean exact = Modifier.isFinal(type.getModifiers()) && !type.isArray() && type != Optional.class;
        if (exact && !isReadable(type, property)) {
            throw refused(
                    "reads the property '%s', which %s does not have".formatted(property, type.getName()),
                    "name a property or record component of " + type.getSimpleName());
        }
    }

    private static boolean isReadable(Class<?> type, String property) {
        return BeanUtils.getPropertyDescriptor(type, property) != null
                || ReflectionUtils.findMethod(type, property) != null
                || ReflectionUtils.findField(type, property) != null;
    }

    /** @throws InvalidKeyException if the expression fails on this message */
    @Nullable Object evaluate(Message<?> message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setPropertyAccessors(properties);
        variables.forEach((name, value) -> context.setVariable(name, value.of(message)));
        try {
            return expression.getValue(context);
        } catch (RuntimeException failure) {
            log.debug("Why the {} failed", this, RedactedException.of(failure));
            throw new InvalidKeyException("The %s failed on this message: %s".formatted(this, reason(failure)));
        }
    }

    private static String reason(Throwable failure) {
        Throwable cause = Causes.root(failure);
        if (!(cause instanceof SpelEvaluationException own)) {
            return cause.getClass().getName();
        }
        return StringUtils.truncate(own.getSimpleMessage().replaceAll("\\R|\\p{Cc}", " "), MAX_REASON_LENGTH);
    }

    /** Returns the annotation's text. */
    String text() {
        return expression.getExpressionString();
    }

    /** Asked for with each message, so not formatted. */
    @Override
    public String toString() {
        return attribute + " expression '" + text() + "'";
    }
}
