package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.FailureOutline;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeanUtils;
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
import org.springframework.util.ReflectionUtils;

/**
 * A listener's {@code key} expression, parsed and checked when the application starts: names that are no arguments, and properties
 * that an argument's type cannot have, are refused; a type that may have subclasses is given the benefit of the doubt. When it fails
 * on a message, what SpEL itself finds names properties and types, and is logged; what a method or a getter throws may quote the
 * message, and is not.
 */
final class KeyExpression {

    private static final Logger log = LoggerFactory.getLogger(KeyExpression.class);

    private static final String PAYLOAD = "payload";

    private static final Map<String, KeyArguments.Value> ALWAYS_THERE =
            Map.of(PAYLOAD, Message::getPayload, "message", message -> message, "headers", Message::getHeaders);

    /** SpEL's own. */
    private static final Set<String> SPEL = Set.of("root", "this");

    private static final int MAX_REASON_LENGTH = 300;

    /**
     * Never compiles, whatever {@code spring.expression.compiler.mode} says: compiled arithmetic truncates numbers of another
     * type than those before, and compiled reads of a map take an absent property for null. A key must not depend on how
     * often its expression was evaluated.
     */
    private static final SpelExpressionParser PARSER =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    private final SpelExpression expression;
    private final KeyArguments arguments;
    private final @Nullable BatchSignature batch;
    private final List<String> names;
    private final List<Class<?>> types;

    /** What it reads, by name. */
    private final Map<String, KeyArguments.Value> variables = new HashMap<>();

    /** One for all messages, for they remember how to read each type's properties. */
    private final List<PropertyAccessor> properties = List.of(new MapAccessor(), new ReflectivePropertyAccessor());

    private KeyExpression(SpelExpression expression, KeyArguments arguments) {
        Method method = arguments.method();
        this.expression = expression;
        this.arguments = arguments;
        this.batch = BatchSignature.isBatch(method) ? BatchSignature.of(method) : null;
        this.names = batch == null ? Arrays.asList(names(expression, arguments)) : List.of(PAYLOAD);
        this.types = batch == null ? Arrays.asList(method.getParameterTypes()) : List.of(batch.payloadType());
    }

    private static String[] names(SpelExpression expression, KeyArguments arguments) {
        String[] names = arguments.names();
        if (names == null) {
            throw new InvalidListenerException(
                    arguments.method(),
                    "key expression '%s' needs the names of the method's arguments, and the class has none"
                            .formatted(expression.getExpressionString()),
                    "compile with javac -parameters");
        }
        return names;
    }

    /**
     * Parses an expression and checks the names that it uses.
     *
     * @throws InvalidListenerException if it does not parse, names something that the method does not have, or something that is
     *     not known when the message is polled
     */
    static KeyExpression parse(String text, KeyArguments arguments) {
        SpelExpression parsed;
        try {
            parsed = PARSER.parseRaw(text);
        } catch (ParseException invalid) {
            throw new InvalidListenerException(
                    arguments.method(),
                    "key expression '%s' does not parse: %s".formatted(text, invalid.getSimpleMessage()),
                    "write SpEL over the method's arguments, for example key = \"#order.orderId\"");
        }
        KeyExpression read = new KeyExpression(parsed, arguments);
        read.check(parsed.getAST());
        return read;
    }

    private void check(SpelNode node) {
        if (node instanceof VariableReference variable) {
            String name = nameOf(variable);
            if (!SPEL.contains(name)) {
                variables.put(name, value(name));
            }
        }
        if (node instanceof CompoundExpression) {
            checkProperty(node);
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            check(node.getChild(child));
        }
    }

    private KeyArguments.Value value(String name) {
        return batch == null ? single(name) : item(name, batch);
    }

    /** An argument that is named like what is always there wins. */
    private KeyArguments.Value single(String name) {
        int named = names.indexOf(name);
        int index = named < 0 ? position(name) : named;
        if (index < 0) {
            return alwaysThere(name);
        }
        if (types.get(index) == Claim.class) {
            throw refused("reads the claim '#%s', which is made of the key", name, "use the message's own content");
        }
        return arguments.argument(index, reading(name));
    }

    /** Of a batch, the expression is evaluated for each message: the method's arguments are not there yet. */
    private KeyArguments.Value item(String name, BatchSignature shape) {
        if (name.equals(KeyExpression.PAYLOAD) && shape.list() >= 0) {
            return arguments.item(shape.list(), reading(name));
        }
        if (!ALWAYS_THERE.containsKey(name) && isOfWholeBatch(name)) {
            throw refused(
                    "reads the argument '#%s' of a method that takes batches",
                    name,
                    "use #payload, #message or #headers: the expression is evaluated for each message of a batch");
        }
        return alwaysThere(name);
    }

    private boolean isOfWholeBatch(String name) {
        String[] all = arguments.names();
        int position = position(name);
        return (all != null && List.of(all).contains(name)) || position >= 0;
    }

    private KeyArguments.Value alwaysThere(String name) {
        KeyArguments.Value value = ALWAYS_THERE.get(name);
        if (value == null) {
            Set<String> known = new TreeSet<>(names);
            known.addAll(ALWAYS_THERE.keySet());
            throw refused("names the unknown argument '#%s'", name, "use one of #" + String.join(", #", known));
        }
        return value;
    }

    /** Returns an argument's position where it is named by that, such as {@code p0}; -1 for another name. */
    private int position(String name) {
        if (!name.matches("[ap]\\d{1,3}")) {
            return -1;
        }
        int position = Integer.parseInt(name.substring(1));
        return position < arguments.method().getParameterCount() ? position : -1;
    }

    private String reading(String name) {
        return "key expression '%s' reads the argument '#%s'".formatted(this, name);
    }

    private InvalidListenerException refused(String problem, String name, String remedy) {
        return new InvalidListenerException(
                arguments.method(), "key expression '%s' ".formatted(this) + problem.formatted(name), remedy);
    }

    private void checkProperty(SpelNode compound) {
        if (!(compound.getChild(0) instanceof VariableReference variable)
                || !(compound.getChild(1) instanceof PropertyOrFieldReference property)) {
            return;
        }
        int index = names.indexOf(nameOf(variable));
        if (index < 0) {
            return;
        }
        Class<?> type = types.get(index);
        // Of an Optional, SpEL may read what is inside.
        boolean exact = Modifier.isFinal(type.getModifiers()) && !type.isArray() && type != Optional.class;
        if (exact && !isReadable(type, property.getName())) {
            throw new InvalidListenerException(
                    arguments.method(),
                    "key expression '%s' reads the property '%s', which %s does not have"
                            .formatted(this, property.getName(), type.getName()),
                    "name a property or record component of " + type.getSimpleName());
        }
    }

    private static boolean isReadable(Class<?> type, String property) {
        return BeanUtils.getPropertyDescriptor(type, property) != null
                || ReflectionUtils.findMethod(type, property) != null
                || ReflectionUtils.findField(type, property) != null;
    }

    private static String nameOf(VariableReference variable) {
        return variable.toStringAST().substring(1);
    }

    /** @throws InvalidKeyException if the expression fails on this message */
    @Nullable Object evaluate(Message<?> message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setPropertyAccessors(properties);
        variables.forEach((name, value) -> context.setVariable(name, value.of(message)));
        try {
            return expression.getValue(context);
        } catch (RuntimeException failure) {
            throw failedBy(failure);
        }
    }

    private InvalidKeyException failedBy(Throwable failure) {
        if (log.isDebugEnabled()) {
            log.debug("Why the key expression '{}' failed", this, FailureOutline.of(failure));
        }
        return new InvalidKeyException(
                "The key expression '%s' failed on this message: %s".formatted(this, reason(failure)));
    }

    private static String reason(Throwable failure) {
        Throwable cause = FailureOutline.root(failure);
        if (!(cause instanceof SpelEvaluationException own)) {
            return cause.getClass().getName();
        }
        String text = own.getSimpleMessage().replaceAll("\\R|\\p{Cc}", " ");
        return text.length() > MAX_REASON_LENGTH ? text.substring(0, MAX_REASON_LENGTH) : text;
    }

    /** Says why a delivery is not handled: it is returned with backoff, like one that was refused for its claim. */
    static void logUnusable(Delivery delivery, InvalidKeyException unusable) {
        log.error(
                "{} is returned, and ends in the dead-letter queue if there is one: {}",
                delivery,
                unusable.getMessage());
    }

    @Override
    public String toString() {
        return expression.getExpressionString();
    }
}
