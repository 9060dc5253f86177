package io.exactlyonce.listener.expression;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * Computes constant parts of an expression when the application starts, such as the header's name {@code 'x-' + 'id'}.
 */
final class Constants {

    private final StandardEvaluationContext context = new StandardEvaluationContext();

    Constants(TypeLocator types) {
        context.setTypeLocator(types);
    }

    /**
     * Computes the value of a node if the node is constant. If it is not, returns what was known before.
     *
     * @param read what is known about the node so far
     * @param target the value that the node reads from, such as {@code #order} in {@code #order.id}; {@code null} if
     *     there is none
     * @param parts what is known about the node's operands or arguments
     */
    Known folded(SpelNode node, Known read, @Nullable Known target, List<Known> parts) {
        boolean isConstant = (target == null || isPlain(target.constant()))
                && parts.stream().noneMatch(part -> part.constant() == null);
        if (!isConstant || read.constant() != null) {
            return read;
        }
        ExpressionState state = new ExpressionState(context);
        if (target != null) {
            state.pushActiveContextObject(new TypedValue(target.constant()));
        }
        try {
            Object value = node.getValue(state);
            return value == null ? read : Known.constant(value);
        } catch (RuntimeException fails) {
            // This failure does not end startup. The expression will fail in the same way for each message, and the
            // failure is reported for the message.
            return read;
        }
    }

    /** Returns whether methods of a value may be called at startup. Methods of the application's own types may not. */
    private static boolean isPlain(@Nullable Object target) {
        return target instanceof String
                || target instanceof Number
                || target instanceof List<?>
                || target instanceof Map<?, ?>;
    }
}
