package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
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
import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.messaging.Message;
import org.springframework.util.ReflectionUtils;

/**
 * Finds typing errors in a key expression before the first message does: names that are no arguments, and properties
 * that an argument's type cannot have. A type that may have subclasses is given the benefit of the doubt.
 */
final class KeyExpressionValidator {

    private static final Map<String, KeyArguments.Value> ALWAYS_THERE = Map.of(
            KeyExpression.PAYLOAD, Message::getPayload,
            KeyExpression.MESSAGE, message -> message,
            KeyExpression.HEADERS, Message::getHeaders);

    /** SpEL's own. */
    private static final Set<String> SPEL = Set.of("root", "this");

    private final String expression;
    private final KeyArguments arguments;
    private final List<String> names;
    private final List<Class<?>> types;
    private final @Nullable BatchSignature batch;
    private final Map<String, KeyArguments.Value> read = new HashMap<>();

    private KeyExpressionValidator(
            String expression,
            KeyArguments arguments,
            List<String> names,
            List<Class<?>> types,
            @Nullable BatchSignature batch) {
        this.expression = expression;
        this.arguments = arguments;
        this.names = names;
        this.types = types;
        this.batch = batch;
    }

    /** @throws InvalidListenerException if the method's class was compiled without the names of its parameters */
    static KeyExpressionValidator of(String expression, KeyArguments arguments) {
        Method method = arguments.method();
        if (BatchSignature.isBatch(method)) {
            BatchSignature shape = BatchSignature.of(method);
            return new KeyExpressionValidator(
                    expression, arguments, List.of(KeyExpression.PAYLOAD), List.of(shape.payloadType()), shape);
        }
        String[] names = arguments.names();
        if (names == null) {
            throw new InvalidListenerException(
                    method,
                    "key expression '%s' needs the names of the method's arguments, and the class has none"
                            .formatted(expression),
                    "compile with javac -parameters");
        }
        return new KeyExpressionValidator(
                expression, arguments, Arrays.asList(names), Arrays.asList(method.getParameterTypes()), null);
    }

    /**
     * Checks an expression.
     *
     * @return what it reads, by name
     * @throws InvalidListenerException if it cannot be evaluated on any message
     */
    Map<String, KeyArguments.Value> check(SpelNode root) {
        checkNode(root);
        return Map.copyOf(read);
    }

    private void checkNode(SpelNode node) {
        if (node instanceof VariableReference variable) {
            String name = nameOf(variable);
            if (!SPEL.contains(name)) {
                read.put(name, value(name));
            }
        }
        if (node instanceof CompoundExpression) {
            checkProperty(node);
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            checkNode(node.getChild(child));
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
        return "key expression '%s' reads the argument '#%s'".formatted(expression, name);
    }

    private InvalidListenerException refused(String problem, String name, String remedy) {
        return new InvalidListenerException(
                arguments.method(), "key expression '%s' ".formatted(expression) + problem.formatted(name), remedy);
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
                            .formatted(expression, property.getName(), type.getName()),
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
}
