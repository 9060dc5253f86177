package io.exactlyonce.listener.expression;

import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ReflectionUtils;

/**
 * Reads an expression once, when the application starts. Names that are not arguments, and properties that an argument's type cannot
 * have, fail startup, unless the type may have subclasses.
 */
final class ExpressionReading {

    /** Names that are SpEL's own. */
    private static final Set<String> SPEL = Set.of("root", "this");

    private final KeyExpression expression;
    private final HandlerArguments arguments;
    private final Map<String, HandlerArguments.Value> variables = new HashMap<>();

    private ExpressionReading(KeyExpression expression, HandlerArguments arguments) {
        this.expression = expression;
        this.arguments = arguments;
    }

    /** Returns how to make the values of the variables that the expression names. */
    static Map<String, HandlerArguments.Value> variables(
            KeyExpression expression, SpelNode root, HandlerArguments arguments) {
        ExpressionReading reading = new ExpressionReading(expression, arguments);
        reading.read(root);
        return Map.copyOf(reading.variables);
    }

    private void read(SpelNode node) {
        if (node instanceof VariableReference variable) {
            String name = nameOf(variable);
            if (!SPEL.contains(name)) {
                variables.put(name, arguments.value(name, expression));
            }
        }
        if (node instanceof CompoundExpression
                && node.getChild(0) instanceof VariableReference variable
                && node.getChild(1) instanceof PropertyOrFieldReference property) {
            readProperty(nameOf(variable), property.getName());
        }
        for (int child = 0; child < node.getChildCount(); child++) {
            read(node.getChild(child));
        }
    }

    private static String nameOf(VariableReference variable) {
        return variable.toStringAST().substring(1);
    }

    private void readProperty(String variable, String property) {
        Class<?> type = arguments.type(variable);
        // Of an Optional, SpEL may read what is inside.
        boolean exact = Modifier.isFinal(type.getModifiers()) && !type.isArray() && type != Optional.class;
        if (exact && !isReadable(type, property)) {
            throw arguments.refused(
                    "%s reads the property '%s', which %s does not have"
                            .formatted(expression, property, type.getName()),
                    "name a property or record component of " + type.getSimpleName());
        }
    }

    private static boolean isReadable(Class<?> type, String property) {
        return BeanUtils.getPropertyDescriptor(type, property) != null
                || ReflectionUtils.findMethod(type, property) != null
                || ReflectionUtils.findField(type, property) != null;
    }
}
