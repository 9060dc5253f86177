package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ReflectionUtils;

/**
 * Finds typing errors in a key expression before the first message does: names that are no arguments, and properties
 * that an argument's type cannot have. A type that may have subclasses is given the benefit of the doubt.
 */
final class KeyExpressionValidator {

    private static final Set<String> ALWAYS_THERE =
            Set.of(KeyExpression.PAYLOAD, KeyExpression.MESSAGE, KeyExpression.HEADERS, "root", "this");

    private final Method method;
    private final String expression;
    private final List<String> names;
    private final List<Class<?>> types;
    private final Set<String> wholeBatch;

    private KeyExpressionValidator(
            Method method, String expression, List<String> names, List<Class<?>> types, Set<String> wholeBatch) {
        this.method = method;
        this.expression = expression;
        this.names = names;
        this.types = types;
        this.wholeBatch = wholeBatch;
    }

    /** Checks an expression over a method's arguments. */
    static KeyExpressionValidator forArguments(Method method, String expression, String @Nullable [] names) {
        if (names == null) {
            throw new InvalidListenerException(
                    method,
                    "key expression '%s' needs the names of the method's arguments, and the class has none"
                            .formatted(expression),
                    "compile with javac -parameters");
        }
        return new KeyExpressionValidator(
                method, expression, Arrays.asList(names), Arrays.asList(method.getParameterTypes()), Set.of());
    }

    /** Checks an expression over each message of a batch: the method's arguments are not there yet. */
    static KeyExpressionValidator forItems(
            Method method, String expression, String @Nullable [] arguments, BatchSignature shape) {
        Set<String> wholeBatch = new HashSet<>(arguments == null ? List.of() : Arrays.asList(arguments));
        wholeBatch.removeAll(ALWAYS_THERE);
        for (int index = 0; index < method.getParameterCount(); index++) {
            wholeBatch.addAll(List.of("p" + index, "a" + index));
        }
        return new KeyExpressionValidator(
                method, expression, List.of(KeyExpression.PAYLOAD), List.of(shape.payloadType()), wholeBatch);
    }

    void check(SpelNode node) {
        if (node instanceof VariableReference variable) {
            requireKnown(nameOf(variable));
        }
        if (node instanceof CompoundExpression) {
            checkProperty(node);
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            check(node.getChild(child));
        }
    }

    private void requireKnown(String name) {
        if (wholeBatch.contains(name)) {
            throw new InvalidListenerException(
                    method,
                    "key expression '%s' reads the argument '#%s' of a method that takes batches"
                            .formatted(expression, name),
                    "use #payload, #message or #headers: the expression is evaluated for each message of a batch");
        }
        int index = names.indexOf(name);
        if (index >= 0 && types.get(index) == Claim.class) {
            throw new InvalidListenerException(
                    method,
                    "key expression '%s' reads the claim '#%s', which is made of the key".formatted(expression, name),
                    "use the message's own content");
        }
        if (names.contains(name) || ALWAYS_THERE.contains(name) || isPositional(name)) {
            return;
        }
        Set<String> known = new TreeSet<>(names);
        known.addAll(Set.of(KeyExpression.PAYLOAD, KeyExpression.MESSAGE, KeyExpression.HEADERS));
        throw new InvalidListenerException(
                method,
                "key expression '%s' names the unknown argument '#%s'".formatted(expression, name),
                "use one of #" + String.join(", #", known));
    }

    private boolean isPositional(String name) {
        if (!name.matches("[ap]\\d{1,3}")) {
            return false;
        }
        return Integer.parseInt(name.substring(1)) < names.size();
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
                    method,
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
